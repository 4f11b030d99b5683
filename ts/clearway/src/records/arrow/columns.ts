// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Data } from "apache-arrow";
import { invalid, shown } from "../refusal.js";
import type { Shape } from "../shape.js";
import {
  bitsOf,
  bytesFrom,
  checkLength,
  corrupt,
  firstElements,
  isValid,
  memory,
  spanOf,
  textBytes,
  validityOf,
} from "./memory.js";
import { unsupported } from "./types.js";

/** Copies an Arrow table's columns into buffers, in the order of `layout.ts`. */
export class Columns {
  /** `bytesLeft` is the maximum number of bytes that may be copied. */
  constructor(private bytesLeft: number) {}

  // In apache-arrow, values and offsets begin at the first row, even if `offset` is not 0. Only bits count from `offset`.
  copy(shape: Shape, column: string, data: Data, rows: number): Uint8Array[] {
    const validity = validityOf(column, data, rows);
    if (validity.length > 0 && !shape.nullable) throw corrupt(column, "is not nullable and has nulls");
    const buffers = [validity, ...this.#values(shape, column, data, rows, validity)];
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
        return this.#list(shape.of, column, data, rows);
      case "struct":
        return shape.columns.flatMap((each, at) => {
          const child = data.children[at];
          if (!child) throw corrupt(column, `has no ${shown(each.name)}`);
          return this.copy(each, `${column}.${each.name}`, child, rows);
        });
      default:
        return [firstElements(column, values, rows)];
    }
  }

  #list(of: string, column: string, data: Data, rows: number): Uint8Array[] {
    const items = data.children[0];
    if (!items) throw corrupt(column, "has no items");
    const { offsets, first, last } = spanOf(column, data, rows, items.length);
    const count = last - first;
    const slice = items.slice(first, count);
    if (slice.nullCount > 0) throw unsupported(column, "lists with nulls in them", String(data.type));
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
