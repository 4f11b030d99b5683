// SPDX-License-Identifier: MIT OR Apache-2.0
// A chunk of a table is one block of memory and holds one Arrow record batch. A chunk is little-endian, like Arrow. `spec/records.md`
// describes the layout, too.
//
//   byte 0          4          8          12         16         20         24
//        +----------+----------+----------+----------+----------+----------+-- ... --+--------+
//        | "CWR1"   | rows     | buffers  | 0        | offset 0 | bytes 0  | a pair  | zeros  |
//        | u32      | u32      | n, u32   | u32      | u32      | u32      | each    | to 64  |
//        +----------+----------+----------+----------+----------+----------+-- ... --+--------+
//        | buffer 0                                            | zeros to a multiple of 64    |
//        +------------------------------------------------------+------------------------------+
//        | buffer 1 ...                                                                        |
//        +-------------------------------------------------------------------------------------+
//
// `offset` counts from the chunk's first byte. `bytes` does not include the padding. The buffers are in Arrow's order, depth first:
//
//   bool                      validity, bits
//   i8 ... f64, timestamp     validity, values
//   date                      validity, values (i32 days)
//   text, bytes               validity, offsets (i32, rows + 1), data
//   text with a dictionary    validity, codes (i32), then the dictionary's offsets (i32, entries + 1), data
//   list                      validity, offsets (i32, rows + 1), then its items: bits or values
//   list of text              validity, offsets (i32, rows + 1), then the texts' offsets (i32, texts + 1), their data
//   struct                    validity, then the buffers of its columns
//
// Validity has one bit per row, least significant bit first. A bit is 1 for a value and 0 for null. Without nulls, the buffer has 0 bytes.

/** "CWR1", read as a little-endian u32. */
export const magic = 0x31525743;
export const magicAt = 0;
export const rowsAt = 4;
export const bufferCountAt = 8;
export const directoryAt = 16;
/** Size of one directory entry, in bytes. An entry has the offset and the size of a buffer. */
export const entryBytes = 8;
/** Alignment that writers use, in bytes: Arrow's recommendation, and a cache line of every relevant processor. */
export const alignment = 64;
/** Alignment that readers require, in bytes: Arrow's minimum, and the alignment of the widest typed array. */
export const alignmentMin = 8;
