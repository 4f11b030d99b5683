// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * One chunk's share of a column, as the memory itself: for loops that want no call a row. Its arrays are views of the
 * table's memory, valid as long as the table is; rows that are null hold 0 or nothing there, and `isNull` tells.
 */
export interface Part {
  readonly length: number;
  isNull(row: number): boolean;
}

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

/** Row `i` is `dictionary[codes[i]]`. The dictionary is decoded when it is first asked for. */
export interface CodePart extends Part {
  readonly codes: Int32Array;
  readonly dictionary: readonly string[];
}

/** Texts one after the other: text `i` is `data[offsets[i]]` up to `data[offsets[i + 1]]`, as UTF-8. */
export interface Texts {
  readonly offsets: Int32Array;
  readonly data: Uint8Array;
}

/** Row `i` is `values[offsets[i]]` up to `values[offsets[i + 1]]`; booleans are bits, texts are {@link Texts}. */
export interface ListPart<Values> extends Part {
  readonly offsets: Int32Array;
  readonly values: Values;
}
