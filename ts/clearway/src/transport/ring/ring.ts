// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { frameHeadWords, frameWordsMax } from "./layout.js";

/** Position of one ring in its memory, in words. `capacity` is a power of two. */
export interface Place {
  tail: number;
  head: number;
  data: number;
  capacity: number;
}

// In words. Up to here a loop beats `set`, which has to create views first: 24 bytes take 8 ns in a loop and 32 ns with `set`, 256 bytes
// take 65 ns and 38 ns. Loops over single bytes of shared memory are much slower than both.
const loopWords = 24;

/**
 * The sending end of a ring with one sender and one receiver. Allocates nothing for frames of up to 96 bytes. Never blocks.
 *
 * Frames are stored with plain stores, not atomic ones. The receiver reads no word at or after the tail that it has loaded, and `publish`
 * stores the tail after the words (a sequentially consistent store releases all stores before it). The sender writes no word at or after
 * `head + capacity`, and the receiver stores the head after its last read of the words before it. No word is therefore ever read and
 * written at the same time.
 */
export class SendRing {
  readonly #words: Int32Array;
  readonly #place: Place;
  #tail: number;
  /** The head when it was last loaded. It can only have advanced since. */
  #headSeen: number;

  constructor(words: Int32Array, place: Place) {
    this.#words = words;
    this.#place = place;
    // The current positions: zero, except in tests.
    this.#tail = words[place.tail]!;
    this.#headSeen = words[place.head]!;
  }

  /** Writes a frame behind the others; the receiver cannot see it yet. Returns false, without writing, when there is no room. */
  write(frame: Int32Array, count: number): boolean {
    const { capacity, data, head } = this.#place;
    if (capacity - ((this.#tail - this.#headSeen) | 0) < count) {
      // Acquire: pairs with the store in `ReceiveRing.release`. The receiver has finished with the words before the head.
      this.#headSeen = Atomics.load(this.#words, head);
      const used = (this.#tail - this.#headSeen) | 0;
      if (used < 0 || used > capacity) throw torn("head", used);
      if (capacity - used < count) return false;
    }
    const words = this.#words;
    const from = this.#tail & (capacity - 1);
    const whole = Math.min(count, capacity - from);
    if (count > loopWords) {
      words.set(frame.subarray(0, whole), data + from);
      if (whole < count) words.set(frame.subarray(whole, count), data);
    } else {
      for (let each = 0; each < whole; each++) words[data + from + each] = frame[each]!;
      for (let each = whole; each < count; each++) words[data + each - whole] = frame[each]!;
    }
    this.#tail = (this.#tail + count) | 0;
    return true;
  }

  /** Makes the written frames visible to the receiver. */
  publish(): void {
    // Release: pairs with the loads of the tail in `ReceiveRing`; makes the frames' words visible.
    Atomics.store(this.#words, this.#place.tail, this.#tail);
  }
}

/**
 * The receiving end. Copies each frame into private memory before it checks the frame, so that a sender that overwrites published words
 * cannot change what was checked. Never blocks.
 */
export class ReceiveRing {
  /** The frame that `read` found. */
  readonly frame = new Int32Array(frameWordsMax);
  readonly #words: Int32Array;
  readonly #place: Place;
  #head: number;
  #released: number;
  #tailSeen: number;

  constructor(words: Int32Array, place: Place) {
    this.#words = words;
    this.#place = place;
    this.#head = this.#released = this.#tailSeen = words[place.head]!;
  }

  /** Whether a frame is unread. */
  get waiting(): boolean {
    // Acquire: pairs with the store in `SendRing.publish`. Sequentially consistent with the store of the parked word.
    return Atomics.load(this.#words, this.#place.tail) !== this.#head;
  }

  /** Loads the sender's position. `read` reads up to there and no further, however fast the sender is. */
  look(): void {
    // Acquire: pairs with the store in `SendRing.publish`.
    this.#tailSeen = Atomics.load(this.#words, this.#place.tail);
    const used = (this.#tailSeen - this.#head) | 0;
    if (used < 0 || used > this.#place.capacity) throw torn("tail", used);
  }

  /** Copies the next frame into `frame` and returns its words; 0 when there is none. The frame stays in the ring until `take`. */
  read(): number {
    const left = (this.#tailSeen - this.#head) | 0;
    if (left === 0) return 0;
    const { capacity, data } = this.#place;
    const words = this.#words;
    const from = this.#head & (capacity - 1);
    // Read only once: the copy below does not take the length from shared memory again.
    const head = words[data + from]!;
    const count = head >>> 8;
    if (count < frameHeadWords || count > left || count > frameWordsMax) throw torn("frame", count);
    const { frame } = this;
    const whole = Math.min(count, capacity - from);
    if (count > loopWords) {
      frame.set(words.subarray(data + from, data + from + whole));
      if (whole < count) frame.set(words.subarray(data, data + count - whole), whole);
    } else {
      for (let each = 1; each < whole; each++) frame[each] = words[data + from + each]!;
      for (let each = whole; each < count; each++) frame[each] = words[data + each - whole]!;
    }
    frame[0] = head;
    return count;
  }

  /** Moves behind the frame that was read. */
  take(count: number): void {
    this.#head = (this.#head + count) | 0;
    // Releases in the middle of a long drain too, so that a nearly empty ring does not refuse the sender.
    if (((this.#head - this.#released) | 0) * 4 > this.#place.capacity) this.release();
  }

  /** Gives the room of the read frames back to the sender. */
  release(): void {
    if (this.#released === this.#head) return;
    this.#released = this.#head;
    // Release: pairs with the load in `SendRing.write`; every read of these words is over.
    Atomics.store(this.#words, this.#place.head, this.#head);
  }
}

function torn(what: string, words: number): ClearwayError {
  return new ClearwayError("protocol", `the ring is torn: ${what}=${words} words`);
}
