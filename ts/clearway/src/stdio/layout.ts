// SPDX-License-Identifier: MIT OR Apache-2.0

// A frame on a stream of bytes. spec/stdio.md; conformance/stdio.json checks it in every language.
//
//   byte  0     1     2     3     4           8                    8 + size
//         +-----+-----+-----+-----+-----------+--------------------+
//         | 43  | 57  | 01  |kind | size, u32 | body               |
//         | "C" | "W" |     |     | little    |                    |
//         +-----+-----+-----+-----+-----------+--------------------+
//
// The mark stands before each frame and not once at the start, so that a line which somebody prints in between is found
// where it begins. Its first byte is a letter, but no line begins with "CW" and a byte 1.

/** Bytes before a body. */
export const headerBytes = 8;
/** What each frame begins with: two letters and the version. */
export const mark: readonly number[] = [0x43, 0x57, 0x01];
export const kindAt = 3;
export const sizeAt = 4;

/** The body is a frame of the channel's. */
export const kindFrame = 0;
/** The last word: the body is the reason, as JSON. Nothing follows. */
export const kindClose = 1;

/** A reason is for people; one that is longer is no reason. */
export const closeBytesMax = 8192;
