// SPDX-License-Identifier: MIT OR Apache-2.0

import { BadValue } from "../refusal.js";
import { encodeUtf8, typedArrayLength, typedArrayName } from "../values.js";
import { type Builder, bytesOf, firstRows, type Growth, grown, noBytes } from "./builder.js";

/** The bytes of all rows of one column: offsets, and a growing array. The builders of texts, bytes and dictionaries use this class. */
export class RowBytes {
  #offsets: Int32Array = new Int32Array(firstRows + 1);
  #data: Uint8Array = new Uint8Array(firstRows * 8);
  rows = 0;
  end = 0;

  constructor(readonly growth: Growth) {}

  get bytes(): number {
    return this.end + this.rows * 4;
  }

  /** Makes room for `bytes` more bytes and returns the array. Throws `BadValue` if the data would exceed its maximum size. */
  reserve(bytes: number, column: string, value: unknown): Uint8Array {
    const needed = this.end + bytes;
    if (needed > this.#data.length) {
      // The writer closes chunks long before this limit, but a single value may exceed it. The array never grows beyond the limit, so a
      // value that fits into the array needs no further check.
      const max = this.growth.dataBytesMax;
      if (needed > max) {
        const hint = "Split the value over several rows.";
        throw new BadValue(column, `small enough for ${max} bytes together with its chunk`, value, hint);
      }
      this.#data = grown(Uint8Array, this.#data, needed, max);
    }
    return this.#data;
  }

  /** Ends the current row. `end` is the end of the row's bytes. */
  endRow(end: number): void {
    const at = ++this.rows;
    if (at === this.#offsets.length) this.#offsets = grown(Int32Array, this.#offsets, at + 1);
    this.#offsets[at] = end;
    this.growth.bytes += end - this.end;
    this.end = end;
  }

  truncate(rows: number): void {
    if (rows >= this.rows) return;
    this.rows = rows;
    this.end = this.#offsets[rows]!;
  }

  buffers(): Uint8Array[] {
    return [bytesOf(this.#offsets, this.rows + 1), this.#data.subarray(0, this.end)];
  }
}

/** Collects values that are bytes: those of all rows in one array. */
abstract class RowBytesBuilder implements Builder {
  protected readonly rowBytes: RowBytes;

  constructor(
    readonly column: string,
    growth: Growth,
  ) {
    this.rowBytes = new RowBytes(growth);
  }

  get bytes(): number {
    return this.rowBytes.bytes;
  }

  abstract push(value: unknown): void;

  pushEmpty(): void {
    this.rowBytes.endRow(this.rowBytes.end);
  }

  truncate(rows: number): void {
    this.rowBytes.truncate(rows);
  }

  buffers(): Uint8Array[] {
    return [noBytes, ...this.rowBytes.buffers()];
  }
}

export class TextBuilder extends RowBytesBuilder {
  get length(): number {
    return this.rowBytes.rows;
  }

  push(value: unknown): void {
    if (typeof value !== "string") throw new BadValue(this.column, "a text", value);
    const { rowBytes } = this;
    // A UTF-16 unit takes at most 3 bytes in UTF-8.
    const data = rowBytes.reserve(value.length * 3, this.column, value);
    rowBytes.endRow(encodeUtf8(value, data, rowBytes.end));
  }
}

export class BytesBuilder extends RowBytesBuilder {
  push(value: unknown): void {
    if (typedArrayName(value) !== "Uint8Array") throw new BadValue(this.column, "a Uint8Array", value);
    const { rowBytes } = this;
    const length = typedArrayLength(value);
    rowBytes.reserve(length, this.column, value).set(value as Uint8Array, rowBytes.end);
    rowBytes.endRow(rowBytes.end + length);
  }
}

/** Collects texts as codes into a dictionary. Each chunk has a new dictionary. */
export class CodeBuilder implements Builder {
  readonly #codeOf = new Map<string, number>();
  readonly #texts: TextBuilder;
  #codes: Int32Array = new Int32Array(firstRows);
  #rows = 0;

  constructor(
    readonly column: string,
    growth: Growth,
  ) {
    this.#texts = new TextBuilder(column, growth);
  }

  get bytes(): number {
    return this.#rows * 4 + this.#texts.bytes;
  }

  push(value: unknown): void {
    if (typeof value !== "string") throw new BadValue(this.column, "a text", value);
    this.#pushCode(this.#codeOf.get(value) ?? this.#addText(value));
  }

  // A null row also has a code, but no reader of this library reads it.
  pushEmpty(): void {
    this.#pushCode(0);
  }

  // The text of a rejected row stays in the dictionary, which is harmless.
  truncate(rows: number): void {
    this.#rows = Math.min(rows, this.#rows);
    if (rows > 0) return;
    this.#codeOf.clear();
    this.#texts.truncate(0);
  }

  buffers(): Uint8Array[] {
    // Code 0 needs an entry even if all rows of the chunk are null. Arrow's readers look up the code in the columns of a null struct.
    if (this.#rows > 0 && this.#codeOf.size === 0) this.#addText("");
    const [, offsets, data] = this.#texts.buffers();
    return [noBytes, bytesOf(this.#codes, this.#rows), offsets!, data!];
  }

  #addText(value: string): number {
    this.#texts.push(value);
    const code = this.#codeOf.size;
    this.#codeOf.set(value, code);
    return code;
  }

  #pushCode(code: number): void {
    const at = this.#rows++;
    if (at === this.#codes.length) this.#codes = grown(Int32Array, this.#codes, at + 1);
    this.#codes[at] = code;
  }
}
