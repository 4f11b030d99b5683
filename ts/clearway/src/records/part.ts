// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * The part of a column that is in one chunk, as raw memory. Use parts for loops without a call per row.
 *
 * The arrays are views of the table's memory and stay valid as long as the table. A null row contains 0 or an empty value, so use `isNull`
 * to detect it.
 */
export interface Part {
  readonly length: number;
  /** Returns whether a row is null. `row` counts from the part's first row. */
  isNull(row: number): boolean;
}

/** Row `i` is `values[i]`. */
export interface NumberPart<Values> extends Part {
  readonly values: Values;
}

/** Row `i` is bit `bitOffset + i` of `bits`. The least significant bit of a byte comes first. */
export interface BitPart extends Part {
  readonly bits: Uint8Array;
  readonly bitOffset: number;
}

/** Row `i` is the range of `data` from `offsets[i]` to before `offsets[i + 1]`. */
export interface BytesPart extends Part {
  readonly offsets: Int32Array;
  readonly data: Uint8Array;
}

/** Row `i` is `dictionary[codes[i]]`. The first use of `dictionary` decodes all texts. */
export interface CodePart extends Part {
  readonly codes: Int32Array;
  readonly dictionary: readonly string[];
}

/** A sequence of texts in UTF-8. Text `i` is the range of `data` from `offsets[i]` to before `offsets[i + 1]`. */
export interface Texts {
  readonly offsets: Int32Array;
  readonly data: Uint8Array;
}

/** Row `i` is the range of `values` from `offsets[i]` to before `offsets[i + 1]`. Booleans are bits, and texts are {@link Texts}. */
export interface ListPart<Values> extends Part {
  readonly offsets: Int32Array;
  readonly values: Values;
}
