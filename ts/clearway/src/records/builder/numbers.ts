// SPDX-License-Identifier: MIT OR Apache-2.0
import { typedArrayLength } from "../brands.js";
import { BadValue } from "../refusal.js";
import type { NumberKind } from "../shape.js";
import { arrays, type Values } from "../vector/numbers.js";
import { type Builder, bytesOf, firstRows, grown, noBytes } from "./builder.js";

const expectedValues: Readonly<Record<NumberKind, string>> = {
  i8: "a whole number from -128 to 127",
  i16: "a whole number from -32768 to 32767",
  i32: "a whole number from -2147483648 to 2147483647",
  i64: "a bigint from -2^63 to 2^63 - 1",
  u8: "a whole number from 0 to 255",
  u16: "a whole number from 0 to 65535",
  u32: "a whole number from 0 to 4294967295",
  u64: "a bigint from 0 to 2^64 - 1",
  f32: "a number",
  f64: "a number",
};

interface NumberBuilder extends Builder {
  readonly length: number;
  /** Adds values without a check. The typed array must be of this builder's kind. */
  pushAll(values: Values): void;
}

// The typed array, for the compiler: its elements are numbers or bigints, and `push` has checked the type of each value.
type Plain = number[];

/** Makes a separate class for each kind, for the same reason as `vector/numbers.ts`. */
function makeClass(kind: NumberKind): new (column: string) => NumberBuilder {
  const Type = arrays[kind];
  const jsType = kind === "i64" || kind === "u64" ? "bigint" : "number";
  // A stored value must equal the given value. Floats are not compared: f32 rounds by design, and f64 stores every number.
  const exact = kind !== "f32" && kind !== "f64";
  return class implements NumberBuilder {
    #values = new Type(firstRows) as unknown as Plain;
    #rows = 0;

    constructor(readonly column: string) {}

    get length(): number {
      return this.#rows;
    }

    get bytes(): number {
      return this.#rows * Type.BYTES_PER_ELEMENT;
    }

    push(value: unknown): void {
      if (typeof value !== jsType) throw new BadValue(this.column, expectedValues[kind], value);
      const at = this.#rows;
      if (at === this.#values.length) this.#grow(at + 1);
      this.#values[at] = value as number;
      if (exact && this.#values[at] !== value) throw new BadValue(this.column, expectedValues[kind], value);
      this.#rows = at + 1;
    }

    pushEmpty(): void {
      const at = this.#rows++;
      if (at === this.#values.length) this.#grow(at + 1);
      this.#values[at] = (jsType === "bigint" ? 0n : 0) as number;
    }

    pushAll(values: Values): void {
      const end = this.#rows + typedArrayLength(values);
      if (end > this.#values.length) this.#grow(end);
      (this.#values as unknown as Int32Array).set(values as Int32Array, this.#rows);
      this.#rows = end;
    }

    truncate(rows: number): void {
      this.#rows = Math.min(rows, this.#rows);
    }

    buffers(): Uint8Array[] {
      return [noBytes, bytesOf(this.#values as unknown as Values, this.#rows)];
    }

    #grow(needed: number): void {
      const from = this.#values as unknown as Int32Array;
      this.#values = grown(Type as unknown as Int32ArrayConstructor, from, needed) as unknown as Plain;
    }
  };
}

const classes = new Map<NumberKind, new (column: string) => NumberBuilder>();

export function numberBuilder(kind: NumberKind, column: string): NumberBuilder {
  let Class = classes.get(kind);
  if (!Class) {
    Class = makeClass(kind);
    classes.set(kind, Class);
  }
  return new Class(column);
}
