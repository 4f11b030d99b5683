// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Data } from "apache-arrow";
import type { ClearwayError } from "../../error/clearway-error.js";
import { noBytes } from "../builder/builder.js";
import { malformed, shown } from "../refusal.js";

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
