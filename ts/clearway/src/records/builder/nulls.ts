// SPDX-License-Identifier: MIT OR Apache-2.0
import { Bits } from "./bits.js";
import { type Builder, noBytes } from "./builder.js";

/** Wraps a builder for rows that may be null. Creates a class for each column, so that each class calls only one class of builder. */
export function nullableBuilder(inner: Builder): Builder {
  class NullableBuilder implements Builder {
    readonly #inner: Builder;
    readonly #valid = new Bits();
    #nulls = 0;

    constructor(values: Builder) {
      this.#inner = values;
    }

    get bytes(): number {
      return this.#inner.bytes + this.#valid.length / 8;
    }

    push(value: unknown): void {
      if (value === null || value === undefined) {
        this.pushEmpty();
        return;
      }
      this.#inner.push(value);
      this.#valid.push(true);
    }

    pushEmpty(): void {
      this.#inner.pushEmpty();
      this.#valid.push(false);
      this.#nulls++;
    }

    // After truncating a null, the null count may be too high. The chunk then has an unnecessary bitmap.
    truncate(rows: number): void {
      this.#inner.truncate(rows);
      this.#valid.truncate(rows);
      if (rows === 0) this.#nulls = 0;
    }

    buffers(): Uint8Array[] {
      const [, ...rest] = this.#inner.buffers();
      return [this.#nulls === 0 ? noBytes : this.#valid.bytes(), ...rest];
    }
  }
  return new NullableBuilder(inner);
}
