// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Data } from "apache-arrow";
import type { ClearwayError } from "../../error/clearway-error.js";
import { noBytes } from "../builder/builder.js";
import { invalid, malformed, shown } from "../refusal.js";
import type { Shape } from "../shape.js";
import { unsupported } from "./types.js";

/** Copies an Arrow table's columns into buffers, in the order of `layout.ts`. */
export class Columns {
  /** `bytesLeft` is the maximum number of bytes that may be copied. */
  constructor(private bytesLeft: number) {}

  // In apache-arrow, values and offsets begin at the first row, even if `offset` is not 0. Only bits count from `offset`.
  // `outer` says where the structs around the column are not null. Where one is null, the column's content is undefined.
  copy(shape: Shape, column: string, data: Data, rows: number, outer: Uint8Array = noBytes): Uint8Array[] {
    const own = validityOf(column, data, rows);
    if (own.length > 0 && !shape.nullable) {
      for (let row = 0; row < rows; row++)
        if (isValid(outer, row) && !isValid(own, row)) throw corrupt(column, "is not nullable and has nulls");
    }
    const values = this.#values(shape, column, data, rows, inBoth(outer, own));
    const buffers = [shape.nullable ? own : noBytes, ...values];
    // The columns of a struct have already subtracted their own bytes.
    if (shape.kind !== "struct") for (const { length } of buffers) this.bytesLeft -= length;
    if (this.bytesLeft >= 0) return buffers;
    throw invalid(
      column,
      "smaller: its table's columns share memory, and are too large without sharing",
      shown(column),
    );
  }

  #values(shape: Shape, column: string, data: Data, rows: number, validity: Uint8Array): Uint8Array[] {
    const values = data.values as Int32Array | undefined;
    switch (shape.kind) {
      case "bool":
        return [bitsOf(column, data.values, data.offset, rows)];
      case "text":
        if (shape.dictionary) return this.#codes(column, data, rows, validity);
        return bytesFrom(column, data, rows, this.bytesLeft);
      case "bytes":
        return bytesFrom(column, data, rows, this.bytesLeft);
      case "date":
        return [memory(daysOf(column, data, rows, validity))];
      case "list":
        return this.#list(shape.of, column, data, rows, validity);
      case "struct":
        return shape.columns.flatMap((each, at) => {
          const child = data.children[at];
          if (!child) throw corrupt(column, `has no ${shown(each.name)}`);
          return this.copy(each, `${column}.${each.name}`, child, rows, validity);
        });
      default:
        return [firstElements(column, values, rows)];
    }
  }

  #list(of: string, column: string, data: Data, rows: number, validity: Uint8Array): Uint8Array[] {
    const items = data.children[0];
    if (!items) throw corrupt(column, "has no items");
    const { offsets, first, last } = spanOf(column, data, rows, items.length);
    const count = last - first;
    const slice = items.slice(first, count);
    const present = validityOf(column, slice, count);
    if (present.length > 0) {
      for (let row = 0; row < rows; row++) {
        if (!isValid(validity, row)) continue;
        for (let at = offsets[row]!; at < offsets[row + 1]!; at++)
          if (!isValid(present, at)) throw unsupported(column, "lists with nulls in them", String(data.type));
      }
    }
    if (of === "text") return [memory(offsets), ...bytesFrom(column, slice, count, this.bytesLeft)];
    if (of === "bool") return [memory(offsets), bitsOf(column, slice.values, slice.offset, count)];
    return [memory(offsets), firstElements(column, slice.values, count)];
  }

  #codes(column: string, data: Data, rows: number, validity: Uint8Array): Uint8Array[] {
    const values = data.values as unknown as ArrayLike<number | bigint> | undefined;
    checkLength(column, values, rows);
    const [offsets, bytes] = this.#dictionary(column, data);
    const codes = new Int32Array(rows);
    for (let row = 0; row < rows; row++) {
      const code = isValid(validity, row) ? Number(values?.[row]) : 0;
      // Indices have up to 64 bits. An index that does not fit into 32 bits becomes -1. An index outside the dictionary fails only when it
      // is read, because its row may belong to a null struct.
      codes[row] = code === (code | 0) ? code : -1;
    }
    return [memory(codes), offsets, bytes];
  }

  // Joins the pieces of a dictionary: the first piece and later additions.
  #dictionary(column: string, { dictionary, type }: Data): [Uint8Array, Uint8Array] {
    const pieces = (dictionary?.data ?? []).map((data) => {
      if (data.nullCount > 0) throw unsupported(column, "dictionaries with null in them", String(type));
      return bytesFrom(column, data, data.length, this.bytesLeft);
    });
    const lengths = pieces.map(([offsets]) => offsets.byteLength / 4 - 1);
    // The dictionary needs at least one entry, because even the codes of null rows must be in it.
    const offsets = new Int32Array(
      Math.max(
        1,
        lengths.reduce((sum, each) => sum + each, 0),
      ) + 1,
    );
    const bytes = new Uint8Array(pieces.reduce((sum, [, each]) => sum + each.length, 0));
    let entry = 0;
    let end = 0;
    pieces.forEach(([from, data], piece) => {
      const ends = new Int32Array(from.buffer, from.byteOffset, lengths[piece]! + 1);
      for (let at = 1; at < ends.length; at++) offsets[++entry] = end + ends[at]!;
      bytes.set(data, end);
      end += data.length;
    });
    return [memory(offsets), bytes];
  }
}

const msPerDay = 86_400_000n;

/** Returns the days of a column of Arrow's Date32 or Date64. A Date64 counts milliseconds, and by definition holds whole days. */
function daysOf(column: string, data: Data, rows: number, validity: Uint8Array): Int32Array {
  const values = data.values as Int32Array | BigInt64Array | undefined;
  checkLength(column, values, rows);
  if (values instanceof Int32Array) return values.subarray(0, rows);
  const days = new Int32Array(rows);
  for (let row = 0; row < rows; row++) {
    if (!isValid(validity, row)) continue;
    const ms = values![row]!;
    days[row] = Number(ms / msPerDay);
    if (BigInt(days[row]!) * msPerDay !== ms)
      throw corrupt(column, `has ${ms} ms in row ${row}, which is no whole day in 32 bits`);
  }
  return days;
}

/** Estimates the size of a column's rows, in bytes. Throws `protocol` if the column has fewer values than rows. */
export function estimatedBytes(shape: Shape, column: string, data: Data, rows: number): number {
  switch (shape.kind) {
    case "bool":
      checkLength(column, data.values, Math.ceil(rows / 8));
      return rows / 8;
    case "text":
      if (!shape.dictionary) return rows * 4 + textBytes(column, data, rows);
      checkLength(column, data.values, rows);
      return rows * 4;
    case "bytes":
      return rows * 4 + textBytes(column, data, rows);
    case "list": {
      checkLength(column, data.valueOffsets, rows + 1);
      const first = Number(data.valueOffsets[0]);
      const count = Number(data.valueOffsets[rows]) - first;
      const items = data.children[0];
      // `copy` detects corrupt offsets later.
      if (shape.of !== "text" || !items || !(first >= 0 && count >= 0 && first + count <= items.length)) {
        return rows * 4 + (count > 0 ? count * 8 : 0);
      }
      return rows * 4 + count * 4 + textBytes(column, items.slice(first, count), count);
    }
    case "struct":
      return shape.columns.reduce((sum, each, at) => {
        const child = data.children[at];
        return child ? sum + estimatedBytes(each, `${column}.${each.name}`, child, rows) : sum;
      }, 0);
    default:
      checkLength(column, data.values, rows);
      return rows * 8;
  }
}

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

/** Returns the bitmap of the rows that have a value in both bitmaps. */
function inBoth(one: Uint8Array, other: Uint8Array): Uint8Array {
  return one.length === 0 ? other : one.map((byte, at) => byte & (other[at] ?? 255));
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
