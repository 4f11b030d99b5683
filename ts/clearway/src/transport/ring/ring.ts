// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { at, capacityBytes, frameHeadWords, frameWordsMax, headerBytes, magic, version } from "./layout.js";

/** The positions of one ring's parts in its memory, in words. `capacity` is the number of words for frames, a power of two. */
export interface RingOffsets {
  tail: number;
  head: number;
  data: number;
  capacity: number;
}

// In words. Up to this length a loop is faster than `set`, which has to create views first. 24 bytes take 8 ns in a loop and 32 ns with
// `set`; 256 bytes take 65 ns and 38 ns. A loop over single bytes of shared memory is much slower than both.
const loopWords = 24;

/**
 * The sending end of a ring with one sender and one receiver. Never blocks. Allocates nothing for frames of up to 96 bytes.
 *
 * The words of a frame are written with plain stores. No word is read and written at the same time, for two reasons:
 *
 * - The receiver reads only words before the tail that it has loaded. `publish` stores the tail after the words, and a sequentially
 *   consistent store releases all stores before it.
 * - The sender writes only words before `head + capacity`. The receiver stores the head after its last read of the words before it.
 */
export class SendRing {
  readonly #words: Int32Array;
  readonly #offsets: RingOffsets;
  #tail: number;
  /** The head when this side last loaded it. The receiver may have advanced it since. */
  #headSeen: number;

  constructor(words: Int32Array, offsets: RingOffsets) {
    this.#words = words;
    this.#offsets = offsets;
    // Both positions are 0 in a new ring. Some tests start elsewhere.
    this.#tail = words[offsets.tail]!;
    this.#headSeen = words[offsets.head]!;
  }

  /**
   * Writes a frame after all earlier frames. The receiver cannot see it before `publish`. Returns false, without writing, if there is no
   * room.
   */
  write(frame: Int32Array, count: number): boolean {
    const { capacity, data, head } = this.#offsets;
    if (capacity - ((this.#tail - this.#headSeen) | 0) < count) {
      // Acquire: pairs with the store in `ReceiveRing.release`. The receiver has finished reading the words before the head.
      this.#headSeen = Atomics.load(this.#words, head);
      const used = (this.#tail - this.#headSeen) | 0;
      if (used < 0 || used > capacity) throw torn("head", used);
      if (capacity - used < count) return false;
    }
    const words = this.#words;
    const from = this.#tail & (capacity - 1);
    const untilWrap = Math.min(count, capacity - from);
    if (count > loopWords) {
      words.set(frame.subarray(0, untilWrap), data + from);
      if (untilWrap < count) words.set(frame.subarray(untilWrap, count), data);
    } else {
      for (let each = 0; each < untilWrap; each++) words[data + from + each] = frame[each]!;
      for (let each = untilWrap; each < count; each++) words[data + each - untilWrap] = frame[each]!;
    }
    this.#tail = (this.#tail + count) | 0;
    return true;
  }

  /** Makes all written frames visible to the receiver. */
  publish(): void {
    // Release: pairs with the loads of the tail in `ReceiveRing`. Makes the words of the frames visible.
    Atomics.store(this.#words, this.#offsets.tail, this.#tail);
  }
}

/**
 * The receiving end of a ring. Never blocks.
 *
 * Copies each frame into private memory before it checks the frame. A sender that overwrites published words can therefore not change
 * words that have been checked.
 */
export class ReceiveRing {
  /** The frame that `read` copied last. */
  readonly frame = new Int32Array(frameWordsMax);
  readonly #words: Int32Array;
  readonly #offsets: RingOffsets;
  #head: number;
  #released: number;
  #tailSeen: number;

  constructor(words: Int32Array, offsets: RingOffsets) {
    this.#words = words;
    this.#offsets = offsets;
    this.#head = this.#released = this.#tailSeen = words[offsets.head]!;
  }

  /** Whether the sender has published a frame that was not taken. */
  get waiting(): boolean {
    // Acquire: pairs with the store in `SendRing.publish`. Sequentially consistent with the store of the parked word in `RingPort.park`.
    return Atomics.load(this.#words, this.#offsets.tail) !== this.#head;
  }

  /** Loads the sender's tail. `read` reads up to this position and no further, even if the sender publishes more. */
  loadTail(): void {
    // Acquire: pairs with the store in `SendRing.publish`.
    this.#tailSeen = Atomics.load(this.#words, this.#offsets.tail);
    const used = (this.#tailSeen - this.#head) | 0;
    if (used < 0 || used > this.#offsets.capacity) throw torn("tail", used);
  }

  /** Copies the next frame into `frame`. Returns its length in words, or 0 without a frame. The frame stays in the ring until `take`. */
  read(): number {
    const left = (this.#tailSeen - this.#head) | 0;
    if (left === 0) return 0;
    const { capacity, data } = this.#offsets;
    const words = this.#words;
    const from = this.#head & (capacity - 1);
    // Loads the length once and uses only this copy, because the sender could change the shared word.
    const head = words[data + from]!;
    const count = head >>> 8;
    if (count < frameHeadWords || count > left || count > frameWordsMax) throw torn("frame", count);
    const { frame } = this;
    const untilWrap = Math.min(count, capacity - from);
    if (count > loopWords) {
      frame.set(words.subarray(data + from, data + from + untilWrap));
      if (untilWrap < count) frame.set(words.subarray(data, data + count - untilWrap), untilWrap);
    } else {
      for (let each = 1; each < untilWrap; each++) frame[each] = words[data + from + each]!;
      for (let each = untilWrap; each < count; each++) frame[each] = words[data + each - untilWrap]!;
    }
    frame[0] = head;
    return count;
  }

  /** Advances past the frame that was read. */
  take(count: number): void {
    this.#head = (this.#head + count) | 0;
    // Releases words also in the middle of a long drain, so that the sender finds room before the drain ends.
    if (((this.#head - this.#released) | 0) * 4 > this.#offsets.capacity) this.release();
  }

  /** Returns the room of the taken frames to the sender. */
  release(): void {
    if (this.#released === this.#head) return;
    this.#released = this.#head;
    // Release: pairs with the load in `SendRing.write`. This side has finished reading these words.
    Atomics.store(this.#words, this.#offsets.head, this.#head);
  }
}

function torn(what: string, words: number): ClearwayError {
  return new ClearwayError("protocol", `the ring is torn: ${what}=${words} words`);
}

/** Returns memory for two rings, initialized. The caller of a pool, or the offering end of a channel, allocates it. */
export function ringMemory(): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(headerBytes + 2 * capacityBytes);
  const words = new Int32Array(memory);
  words[at.magic] = magic;
  words[at.version] = version;
  words[at.capacity] = capacityBytes;
  // The worker may send before the caller first reads its ring. The caller therefore starts as parked, and a message by port wakes it.
  words[at.toCaller.parked] = 1;
  return memory;
}
