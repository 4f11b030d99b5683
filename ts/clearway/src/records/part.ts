// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * One chunk's share of a column, as raw memory. Use it for loops without a call per row.
 *
 * The arrays are views of the table's memory and stay valid as long as the table. Null rows contain 0 or an empty value. Use `isNull` to
 * detect them.
 */
export interface Part {
  readonly length: number;
  /** Returns whether a row is null. `row` counts from the chunk's first row. */
  isNull(row: number): boolean;
}

/** Row `i` is `values[i]`. */
export interface NumberPart<Values> extends Part {
  readonly values: Values;
}

/** Row `i` is bit `bitOffset + i`, least significant bit of a byte first. */
export interface BitPart extends Part {
  readonly bits: Uint8Array;
  readonly bitOffset: number;
}

/** Row `i` is `data[offsets[i]]` up to `data[offsets[i + 1]]`. */
export interface BytesPart extends Part {
  readonly offsets: Int32Array;
  readonly data: Uint8Array;
}

/** Row `i` is `dictionary[codes[i]]`. The first use decodes the dictionary. */
export interface CodePart extends Part {
  readonly codes: Int32Array;
  readonly dictionary: readonly string[];
}

/** A sequence of texts: text `i` is `data[offsets[i]]` up to `data[offsets[i + 1]]`, as UTF-8. */
export interface Texts {
  readonly offsets: Int32Array;
  readonly data: Uint8Array;
}

/** Row `i` is `values[offsets[i]]` up to `values[offsets[i + 1]]`. Booleans are bits, texts are {@link Texts}. */
export interface ListPart<Values> extends Part {
  readonly offsets: Int32Array;
  readonly values: Values;
}
