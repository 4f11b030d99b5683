// SPDX-License-Identifier: MIT OR Apache-2.0

// The shared memory of one worker: a header, then two rings. Words have 32 bits, little-endian. Every word that one side writes and the
// other reads has 128 bytes to itself: two cache lines, because processors fetch lines in pairs. `spec/ring.md` describes the layout for
// other languages; `spec/vectors/ring.json` tests every implementation.
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
// Tail and head count words since the start and wrap at 2^32. A word's position is its count modulo the capacity in words.
//
// A frame:  | op, 8 bits; words in all, 24 bits | id | value a ... | value b ... |   a mark ends after its id
// A value:  | tag, 8 bits; payload, 24 bits | words that follow, by tag |

export const headerBytes = 1024;
export const magic = 0x52_4c_43_30;
export const version = 1;

/**
 * Bytes of one ring. A frame of a trivial call takes 20 bytes, so 64 KiB hold 3,200: three times the need of 1000 calls in flight. A
 * benchmark of 1000 calls in flight gains nothing from 256 KiB and loses a fifth with 16 KiB.
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

/** A frame's words before its values: one with its op and length, one with its id. */
export const frameHeadWords = 2;

/** Types of a value, in its first word. The numbers are part of the wire: add at the end, never renumber. */
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
  /** Payload: number of bytes that follow, one per character, padded to a word with zeros. */
  latin1 = 7,
  /** Payload: number of UTF-16 units that follow, padded to a word with zero. */
  utf16 = 8,
  /** Payload: number of values that follow. */
  array = 9,
  /** Payload: number of pairs of key (latin1 or utf16) and value that follow. */
  object = 10,
  /** Payload: type number (8 bits) and size (16 bits) of the bytes that follow, padded to a word with zeros. */
  binary = 11,
}

// Limits of frames in the ring. Larger ones go by port, which costs them a wake-up of 20 to 50 us and a structured clone. Both sides
// enforce these limits, so that a frame of the other side cannot make this one allocate or recurse further.

/** Words of one frame: 4 KiB. Encoding or decoding that much takes a few microseconds of the thread that must not stall. */
export const frameWordsMax = 1024;
/** Nesting levels of a value. */
export const depthMax = 16;
/** Objects and arrays of one frame. Each is compared with those before it, so that one object stays one object. */
export const objectsMax = 32;
/** Bytes of binary memory in one frame. Copying half a KiB twice takes 0.1 us; moving it needs a message. */
export const binaryBytesMax = 512;
