// SPDX-License-Identifier: MIT OR Apache-2.0

// A frame on a stream of bytes. spec/stdio.md; conformance/stdio.json checks it in every language.
//
//   byte  0     1     2     3     4           8                    8 + size
//         +-----+-----+-----+-----+-----------+--------------------+
//         | 43  | 57  | 01  |kind | size, u32 | body               |
//         | "C" | "W" |     |     | little    |                    |
//         +-----+-----+-----+-----+-----------+--------------------+
//
// Each frame begins with the mark, so that the reader finds a stray line at its first byte. The mark's first byte is a letter, but no
// line of text begins with "CW" and a byte 1.

/** Bytes before a body. */
export const headerBytes = 8;
/** First bytes of each frame: two letters and the version. */
export const mark: readonly number[] = [0x43, 0x57, 0x01];
export const kindAt = 3;
export const sizeAt = 4;

/** The body is a frame of the channel. */
export const kindFrame = 0;
/** The body is the close reason, as JSON. Nothing follows. */
export const kindClose = 1;

/** The maximum number of bytes of a close reason. The reason is for people. A longer reason is a protocol error. */
export const closeBytesMax = 8192;
