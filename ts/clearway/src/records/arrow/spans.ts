// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Data } from "apache-arrow";
import { invalid } from "../refusal.js";
import { checkLength, corrupt, isValid, memory, validityOf } from "./memory.js";

/** The ranges of the rows of texts, bytes or lists. `offsets` begin at 0. All rows are between `first` and `last` of Arrow's data. */
export interface Span {
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
