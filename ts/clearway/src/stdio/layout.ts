// SPDX-License-Identifier: MIT OR Apache-2.0

// Layout of a frame on a stream of bytes (spec/stdio.md). spec/vectors/stdio.json has tests for all languages.
//
//   byte  0     1     2     3     4           8                    8 + size
//         +-----+-----+-----+-----+-----------+--------------------+
//         | 43  | 57  | 01  |kind | size, u32 | body               |
//         | "C" | "W" |     |     | little    |                    |
//         +-----+-----+-----+-----+-----------+--------------------+
//
// Each frame begins with the magic bytes: the letters "CW" and the version as a byte. No line of text begins with these three bytes, so the
// reader recognizes a stray line at its first wrong byte.

/** Size of a frame's header, in bytes. The body follows. */
export const headerBytes = 8;
/** First bytes of each frame: the letters "CW" and the version. */
export const magic: readonly number[] = [0x43, 0x57, 0x01];
export const kindAt = 3;
export const sizeAt = 4;

/** The body is a frame of the channel. */
export const kindFrame = 0;
/** The body is the close reason, as JSON. No frame follows. */
export const kindClose = 1;

/**
 * Maximum size of a close reason, in bytes. The reason is a description for developers. A longer reason closes the transport
 * with `too-large`.
 */
export const closeBytesMax = 8192;
