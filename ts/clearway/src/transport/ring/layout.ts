// SPDX-License-Identifier: MIT OR Apache-2.0

// The shared memory of one worker: a header, then two rings. Words are 32 bits, little-endian. Every word that one side
// writes and the other reads has 128 bytes to itself, two cache lines, because processors fetch lines in pairs.
// `spec/ring.md` says it for other languages; `spec/vectors/ring.json` holds every implementation to it.
//
//   byte     0  +-----------------------------------+
//               | magic | version | capacity | spin |  caller writes; `spin` at any time, the rest before all else
//          128  +-----------------------------------+
//               | to worker: tail                   |  caller writes
//          256  +-----------------------------------+
//               | to worker: head                   |  worker writes
//          384  +-----------------------------------+
//               | worker parked                     |  worker sets, either clears
//          512  +-----------------------------------+
//               | to caller: tail                   |  worker writes
//          640  +-----------------------------------+
//               | to caller: head                   |  caller writes
//          768  +-----------------------------------+
//               | caller parked                     |  caller sets, either clears
//         1024  +-----------------------------------+
//               | to worker: frames                 |  `capacity` bytes
//               +-----------------------------------+
//               | to caller: frames                 |  `capacity` bytes
//               +-----------------------------------+
//
// Tail and head count words since the start and wrap at 2^32; a word's place is its count modulo the capacity in words.
//
// A frame:  | op, 8 bits; words in all, 24 bits | id | value a ... | value b ... |   a mark ends after its id
// A value:  | tag, 8 bits; payload, 24 bits | words that follow, by tag |

export const headerBytes = 1024;
export const magic = 0x52_4c_43_30;
export const version = 1;

/**
 * Bytes of one ring. A frame of a trivial call takes 20 bytes, so 64 KiB hold 3,200: what 1000 calls in flight need, three
 * times over (`bench/throughput.mjs` gains nothing from 256 KiB and loses a fifth with 16).
 */
export const capacityBytes = 64 * 1024;

/** Index of a word. */
export const at = {
  magic: 0,
  version: 1,
  capacity: 2,
  spin: 3,
  toWorker: { tail: 128 / 4, head: 256 / 4, parked: 384 / 4 },
  toCaller: { tail: 512 / 4, head: 640 / 4, parked: 768 / 4 },
} as const;

/** A frame's words before its values: its op and length, and its id. */
export const frameHeadWords = 2;

/** What a value's first word says. The numbers are the wire: add at the end, never renumber. */
export enum Tag {
  undefined = 0,
  null = 1,
  false = 2,
  true = 3,
  /** The payload is the number, signed. */
  small = 4,
  /** One word follows. */
  int32 = 5,
  /** Two words follow, the lower half first. */
  float64 = 6,
  /** Payload: how many bytes follow, a character each, filled up to a word with zeros. */
  latin1 = 7,
  /** Payload: how many UTF-16 units follow, filled up to a word with zero. */
  utf16 = 8,
  /** Payload: how many values follow. */
  array = 9,
  /** Payload: how many pairs of key (latin1 or utf16) and value follow. */
  object = 10,
  /** Payload: kind (8 bits), bytes (16 bits), which follow, filled up to a word with zeros. */
  binary = 11,
}

// Limits of what travels in the ring. What is larger goes by port, which costs it a wake-up of 20 to 50 us and a structured
// clone; both sides hold to them, so that a frame of the other side cannot make this one allocate or recurse further.

/** Words of one frame: 4 KiB. Encoding and decoding so much takes a few microseconds of the thread that must not stop. */
export const frameWordsMax = 1024;
/** Values inside values. */
export const depthMax = 16;
/** Objects and arrays of one frame: each is compared with those before it, to keep what is one object one object. */
export const objectsMax = 32;
/** Bytes of binary memory of one frame: copying half a KiB twice takes 0.1 us, moving it takes a message. */
export const binaryBytesMax = 512;
