// SPDX-License-Identifier: MIT OR Apache-2.0
import { Bits } from "./bits.js";
import { type Builder, noBytes } from "./builder.js";

/** Wraps a builder for rows that may be null. Creates a class for each column, so that each class calls only one class of builder. */
export function nullableBuilder(of: Builder): Builder {
  class NullableBuilder implements Builder {
    readonly #of: Builder;
    readonly #valid = new Bits();
    #nulls = 0;

    constructor(inner: Builder) {
      this.#of = inner;
    }

    get bytes(): number {
      return this.#of.bytes + this.#valid.length / 8;
    }

    push(value: unknown): void {
      if (value === null || value === undefined) {
        this.pushEmpty();
        return;
      }
      this.#of.push(value);
      this.#valid.push(true);
    }

    pushEmpty(): void {
      this.#of.pushEmpty();
      this.#valid.push(false);
      this.#nulls++;
    }

    // After truncating a null, the null count may be too high. The chunk then has an unnecessary bitmap.
    truncate(rows: number): void {
      this.#of.truncate(rows);
      this.#valid.truncate(rows);
      if (rows === 0) this.#nulls = 0;
    }

    buffers(): Uint8Array[] {
      const [, ...rest] = this.#of.buffers();
      return [this.#nulls === 0 ? noBytes : this.#valid.bytes(), ...rest];
    }
  }
  return new NullableBuilder(of);
}
