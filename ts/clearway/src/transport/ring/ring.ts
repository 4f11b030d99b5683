// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { frameHeadWords, frameWordsMax } from "./layout.js";

/** Where one ring stands in its memory, in words. `capacity` is a power of two. */
export interface Place {
  tail: number;
  head: number;
  data: number;
  capacity: number;
}

// Up to here a loop over words beats `set`, which has to make views first: 24 bytes in 8 ns against 32, 256 bytes in 65
// against 38 (loops over single bytes of shared memory are not even in the race).
const loopWords = 24;

/**
 * The sending end of a ring with one sender and one receiver. Allocates nothing up to 96 bytes a frame; never blocks.
 *
 * Plain stores of words stand in for atomic ones: the receiver reads no word at or after the tail that it has loaded, and
 * `publish` stores the tail after them (a sequentially consistent store releases all before it). The sender in turn writes
 * no word before `head + capacity`, and the receiver stores the head after its last read of what is before it. So no word
 * is ever read and written at once.
 */
export class SendRing {
  readonly #words: Int32Array;
  readonly #place: Place;
  #tail: number;
  /** What the head was when it was last looked at: it can only have moved on since. */
  #headSeen: number;

  constructor(words: Int32Array, place: Place) {
    this.#words = words;
    this.#place = place;
    // Where they stand: zero, but for tests.
    this.#tail = words[place.tail]!;
    this.#headSeen = words[place.head]!;
  }

  /** Writes a frame behind the others, unseen as yet. False when there is no room, and nothing is written. */
  write(frame: Int32Array, count: number): boolean {
    const { capacity, data, head } = this.#place;
    if (capacity - ((this.#tail - this.#headSeen) | 0) < count) {
      // Acquire: pairs with the store in `ReceiveRing.release`; the receiver is done with what stands before it.
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

  /** Lets the receiver see what was written. */
  publish(): void {
    // Release: pairs with the loads of the tail in `ReceiveRing`; makes the frames' words visible.
    Atomics.store(this.#words, this.#place.tail, this.#tail);
  }
}

/**
 * The receiving end. Frames are copied into private memory before anything in them is believed, so that a sender that goes
 * on writing where it must not cannot change what was checked. Never blocks.
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

  /** Whether there is something that was not read. */
  get waiting(): boolean {
    // Acquire: pairs with the store in `SendRing.publish`. Sequentially consistent with the store of the parked word.
    return Atomics.load(this.#words, this.#place.tail) !== this.#head;
  }

  /** Looks how far the sender has come: `read` goes so far and no further, however fast the sender is. */
  look(): void {
    // Acquire: as above.
    this.#tailSeen = Atomics.load(this.#words, this.#place.tail);
    const used = (this.#tailSeen - this.#head) | 0;
    if (used < 0 || used > this.#place.capacity) throw torn("tail", used);
  }

  /** Copies the next frame into `frame` and returns its words; 0 when there is none. It stays until `take`. */
  read(): number {
    const left = (this.#tailSeen - this.#head) | 0;
    if (left === 0) return 0;
    const { capacity, data } = this.#place;
    const words = this.#words;
    const from = this.#head & (capacity - 1);
    // Read once, and believed once: the copy below does not take the length from shared memory again.
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

  /** Goes on behind the frame that was read. */
  take(count: number): void {
    this.#head = (this.#head + count) | 0;
    // In the middle of a long drain too, so that the sender is not turned away from a ring that is nearly empty.
    if (((this.#head - this.#released) | 0) * 4 > this.#place.capacity) this.release();
  }

  /** Gives the room of what was read back to the sender. */
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
