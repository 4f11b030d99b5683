// SPDX-License-Identifier: MIT OR Apache-2.0
import { BadValue } from "../refusal.js";
import { type Builder, bytesOf, firstRows, type Growth, grown, noBytes } from "./builder.js";
import { TextBuilder } from "./texts.js";

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
