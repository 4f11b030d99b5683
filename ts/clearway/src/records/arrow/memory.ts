// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Data } from "apache-arrow";
import type { ClearwayError } from "../../error/clearway-error.js";
import { noBytes } from "../builder/builder.js";
import { invalid, malformed, shown } from "../refusal.js";

/** Returns the typed error for corrupt Arrow memory. */
export function corrupt(column: string, what: string): ClearwayError {
  return malformed(`column ${shown(column)} of the Arrow table ${what}`);
}

/** Checks that a buffer is long enough for its rows. Call this before allocating memory for the rows. Throws `protocol`. */
export function checkLength(column: string, values: { readonly length: number } | undefined, needed: number): void {
  const length = values?.length ?? 0;
  if (length < needed) throw corrupt(column, `has ${length} values where there should be ${needed}`);
}

/** Returns a bitmap with one bit per row: 1 for a value, 0 for null. The bitmap is empty if no row is null. */
export function validityOf(column: string, data: Data, rows: number): Uint8Array {
  return data.nullCount === 0 ? noBytes : bitsOf(column, data.nullBitmap, data.offset, rows);
}

/** Copies bits so that they start at bit 0 of byte 0. In apache-arrow, only bits count from `offset`. */
export function bitsOf(column: string, from: Uint8Array | undefined, start: number, count: number): Uint8Array {
  checkLength(column, from, Math.ceil((start + count) / 8));
  const first = start >> 3;
  const shift = start & 7;
  const to = new Uint8Array((count + 7) >> 3);
  for (let at = 0; at < to.length; at++) {
    to[at] = ((from?.[first + at] ?? 0) >> shift) | ((from?.[first + at + 1] ?? 0) << (8 - shift));
  }
  return to;
}

/** Returns whether a row has a value, given the result of {@link validityOf}. */
export function isValid(validity: Uint8Array, row: number): boolean {
  return validity.length === 0 || ((validity[row >> 3]! >> (row & 7)) & 1) === 1;
}

/** Returns the memory of a typed array's first elements. Copies nothing. */
export function firstElements(column: string, values: Int32Array | undefined, count: number): Uint8Array {
  checkLength(column, values, count);
  return memory((values ?? noBytes).subarray(0, count));
}

export function memory(values: ArrayBufferView): Uint8Array {
  return new Uint8Array(values.buffer as ArrayBuffer, values.byteOffset, values.byteLength);
}

/** The ranges of the rows of texts, bytes or lists. `offsets` begin at 0. All rows are between `first` and `last` of Arrow's data. */
interface Span {
  readonly offsets: Int32Array;
  readonly first: number;
  readonly last: number;
}

const offsetMax = 0x7fff_ffff;

/** Reads offsets of 32 or 64 bits. Throws `protocol` if the offsets decrease or end beyond `size`. */
export function spanOf(column: string, data: Data, rows: number, size: number): Span {
  const from = data.valueOffsets as unknown as ArrayLike<number | bigint> | undefined;
  if (rows > 0) checkLength(column, from, rows + 1);
  const first = Number(from?.[0] ?? 0);
  const offsets = new Int32Array(rows + 1);
  let before = first;
  for (let row = 0; row <= rows; row++) {
    const offset = Number(from?.[row] ?? first);
    if (offset < before) throw corrupt(column, `has offset ${offset} after ${before}`);
    if (offset - first > offsetMax) throw tooLarge(column);
    offsets[row] = offset - first;
    before = offset;
  }
  if (first < 0 || before > size) throw corrupt(column, `ends at ${before}, beyond its data of ${size}`);
  return { offsets, first, last: before };
}

/** Reads texts or bytes and returns offsets and data. `bytesMax` is the maximum number of bytes that may be copied. */
export function bytesFrom(column: string, data: Data, rows: number, bytesMax: number): [Uint8Array, Uint8Array] {
  if (isView(data)) return viewsFrom(column, data, rows, bytesMax);
  const values = data.values as Uint8Array | undefined;
  const { offsets, first, last } = spanOf(column, data, rows, values?.length ?? 0);
  return [memory(offsets), values?.subarray(first, last) ?? new Uint8Array(0)];
}

/** Returns the total bytes of a column's texts without reading them. Takes O(1), or O(rows) for views. */
export function textBytes(column: string, data: Data, rows: number): number {
  if (!isView(data)) {
    checkLength(column, data.valueOffsets, rows > 0 ? rows + 1 : 0);
    return Number(data.valueOffsets?.[rows] ?? 0) - Number(data.valueOffsets?.[0] ?? 0);
  }
  const sizes = sizesOf(column, data, rows);
  let sum = 0;
  for (let row = 0; row < rows; row++) sum += sizes(row);
  return sum;
}

// An Arrow view has 16 bytes and starts with the text's length. A text of at most 12 bytes follows directly. For a longer text, the text's
// first 4 bytes, the number of a buffer and an offset in that buffer follow.
const viewBytes = 16;
const inlineMax = 12;

// Returns whether the type is `Type.BinaryView` or `Type.Utf8View`. Older versions of the package do not export these names.
function isView({ type }: Data): boolean {
  return (type.typeId as number) === 23 || (type.typeId as number) === 24;
}

function sizesOf(column: string, data: Data, rows: number): (row: number) => number {
  const values = data.values as Uint8Array | undefined;
  checkLength(column, values, rows * viewBytes);
  const validity = validityOf(column, data, rows);
  const views = values && new DataView(values.buffer, values.byteOffset, values.byteLength);
  return (row) => {
    const size = isValid(validity, row) ? views!.getInt32(row * viewBytes, true) : 0;
    if (size < 0) throw corrupt(column, `has a text of ${size} bytes`);
    return size;
  };
}

function viewsFrom(column: string, data: Data, rows: number, bytesMax: number): [Uint8Array, Uint8Array] {
  const size = textBytes(column, data, rows);
  if (size > offsetMax) throw tooLarge(column);
  if (size > bytesMax) {
    throw invalid(
      column,
      `of at most ${bytesMax} bytes, as the table is small and its views share texts: make it a dictionary`,
      size,
    );
  }
  const sizes = sizesOf(column, data, rows);
  const values = data.values as Uint8Array;
  const views = new DataView(values.buffer, values.byteOffset, values.byteLength);
  const offsets = new Int32Array(rows + 1);
  const bytes = new Uint8Array(size);
  let end = 0;
  for (let row = 0; row < rows; row++) {
    const length = sizes(row);
    const at = row * viewBytes;
    if (length <= inlineMax) bytes.set(values.subarray(at + 4, at + 4 + length), end);
    else {
      const from = views.getInt32(at + 12, true);
      const buffer = data.variadicBuffers[views.getInt32(at + 8, true)];
      if (!buffer || from < 0 || from + length > buffer.length)
        throw corrupt(column, `has a text outside of its data, row ${row}`);
      bytes.set(buffer.subarray(from, from + length), end);
    }
    end += length;
    offsets[row + 1] = end;
  }
  return [memory(offsets), bytes];
}

function tooLarge(column: string): Error {
  return invalid(column, "smaller than 2^31 bytes or items in one row", "more");
}
