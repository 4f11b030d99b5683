// SPDX-License-Identifier: MIT OR Apache-2.0

// The shared memory of one worker: a header, then two rings. Words have 32 bits, little-endian. Each tail, head and parked word has 128
// bytes to itself. That is two cache lines, because processors fetch lines in pairs. `spec/ring.md` describes the layout for other
// languages. `spec/vectors/ring.json` tests every implementation.
//
//   byte     0  +-----------------------------------+
//               | magic | version | capacity | spin |  caller writes: `spin` at any time, the rest before it sends the memory
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
// Tail and head count words since the ring was opened and wrap at 2^32. A word's position is its count modulo the capacity in words.
//
// A frame:  | op, 8 bits; length in words, 24 bits | id | value a ... | value b ... |   a mark has only the first two words
// A value:  | tag, 8 bits; payload, 24 bits | more words, depending on the tag |

export const headerBytes = 1024;
export const magic = 0x52_4c_43_30;
export const version = 1;

/**
 * Size of one ring, in bytes. A frame of a trivial call takes 20 bytes, so 64 KiB hold 3,200 frames. That is three times the need of 1000
 * calls in flight. A benchmark of 1000 calls in flight gains nothing from 256 KiB and loses a fifth with 16 KiB.
 */
export const capacityBytes = 64 * 1024;

/** Positions of the header's words, counted in words. */
export const at = {
  magic: 0,
  version: 1,
  capacity: 2,
  spin: 3,
  toWorker: { tail: 128 / 4, head: 256 / 4, parked: 384 / 4 },
  toCaller: { tail: 512 / 4, head: 640 / 4, parked: 768 / 4 },
} as const;

/** The number of words before a frame's values. The first word has the op and the length, the second has the id. */
export const frameHeadWords = 2;

/** Types of a value, in the value's first word. The numbers are part of the wire format: add at the end, never renumber. */
export enum Tag {
  undefined = 0,
  null = 1,
  false = 2,
  true = 3,
  /** The payload is the signed integer. */
  small = 4,
  /** One word follows: the integer. */
  int32 = 5,
  /** Two words follow: the lower half, then the upper half. */
  float64 = 6,
  /** Payload: number of characters. One byte per character follows, padded with zeros to a whole word. */
  latin1 = 7,
  /** Payload: number of UTF-16 units. The units follow, padded with zeros to a whole word. */
  utf16 = 8,
  /** Payload: number of values. The values follow. */
  array = 9,
  /** Payload: number of properties. Pairs of key (latin1 or utf16) and value follow. */
  object = 10,
  /** Payload: type number (8 bits) and number of bytes (16 bits). The bytes follow, padded with zeros to a whole word. */
  binary = 11,
}

// Limits of frames in the ring. A larger frame is sent through the port, which costs a wake-up of 20 to 50 us and a structured clone. Both
// sides enforce these limits. A frame therefore cannot make its receiver allocate or recurse beyond them.

/** Maximum length of a frame, in words: 4 KiB. Encoding or decoding 4 KiB takes a few microseconds of a thread that must not stall. */
export const frameWordsMax = 1024;
/** Maximum nesting depth of a value. */
export const depthMax = 16;
/** Maximum number of objects and arrays in a frame. The encoder compares each one with all earlier ones, to find an object that repeats. */
export const objectsMax = 32;
/** Maximum binary memory in a frame, in bytes. Copying 512 bytes twice takes 0.1 us; moving them needs a message. */
export const binaryBytesMax = 512;
