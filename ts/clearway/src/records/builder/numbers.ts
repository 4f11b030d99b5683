// SPDX-License-Identifier: MIT OR Apache-2.0

import { BadValue } from "../refusal.js";
import type { NumberKind, TimeUnit } from "../shape.js";
import { timeOf, typedArrayLength } from "../values.js";
import { arrays, type Values } from "../vector/vector.js";
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

/** Makes a separate class for each kind, for the same reason as `vector/vector.ts`. */
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

const unitsPerMs: Readonly<Record<TimeUnit, number>> = { s: 1 / 1000, ms: 1, us: 1000, ns: 1_000_000 };
const half = 0x1_0000_0000;

const msPerDay = 86_400_000;

/** Collects days as 32-bit numbers. */
export class DateBuilder implements Builder {
  readonly #days: ReturnType<typeof numberBuilder>;

  constructor(readonly column: string) {
    this.#days = numberBuilder("i32", column);
  }

  get bytes(): number {
    return this.#days.bytes;
  }

  push(value: unknown): void {
    const ms = timeOf(value);
    const days = ms === undefined ? value : ms / msPerDay;
    if (!Number.isInteger(days) || (days as number) !== ((days as number) | 0)) {
      const given = ms === undefined ? value : `Date ${new Date(ms)}`;
      throw new BadValue(this.column, "a whole number of days in 32 bits, or a Date at midnight in UTC", given);
    }
    this.#days.push(days);
  }

  pushEmpty(): void {
    this.#days.pushEmpty();
  }

  truncate(rows: number): void {
    this.#days.truncate(rows);
  }

  buffers(): Uint8Array[] {
    return this.#days.buffers();
  }
}

/** Collects timestamps as 64-bit numbers, each written as two halves. A bigint per row would be garbage for the collector. */
export class TimeBuilder implements Builder {
  #halves: Int32Array = new Int32Array(firstRows * 2);
  #rows = 0;

  constructor(
    readonly column: string,
    readonly unit: TimeUnit,
  ) {}

  get bytes(): number {
    return this.#rows * 8;
  }

  push(value: unknown): void {
    const count = this.#unitsOf(value);
    if (typeof count === "bigint") this.#pushHalves(Number(count & 0xffff_ffffn), Number(count >> 32n));
    else this.#pushHalves(count, Math.floor(count / half));
  }

  pushEmpty(): void {
    this.#pushHalves(0, 0);
  }

  truncate(rows: number): void {
    this.#rows = Math.min(rows, this.#rows);
  }

  buffers(): Uint8Array[] {
    return [noBytes, bytesOf(this.#halves, this.#rows * 2)];
  }

  // A store into 32 bits keeps the low 32 bits. The low bits are also right for negative numbers and for numbers beyond 32 bits.
  #pushHalves(low: number, high: number): void {
    const at = this.#rows * 2;
    if (at === this.#halves.length) this.#halves = grown(Int32Array, this.#halves, at + 2);
    this.#halves[at] = low;
    this.#halves[at + 1] = high;
    this.#rows++;
  }

  #unitsOf(value: unknown): number | bigint {
    const { unit } = this;
    const ms = timeOf(value);
    if (unit === "ns") {
      if (ms !== undefined && !Number.isNaN(ms)) return this.#inRange(BigInt(ms) * 1_000_000n, value);
      if (typeof value === "bigint") return this.#inRange(value, value);
    } else {
      const count = ms === undefined ? value : ms * unitsPerMs[unit];
      if (Number.isSafeInteger(count)) return count as number;
    }
    throw this.#badValue(value);
  }

  #inRange(count: bigint, value: unknown): bigint {
    if (BigInt.asIntN(64, count) !== count) throw this.#badValue(value);
    return count;
  }

  #badValue(value: unknown): BadValue {
    const { unit } = this;
    const kind = unit === "ns" ? "a bigint of ns in 64 bits" : `a whole number of ${unit}`;
    const ms = timeOf(value);
    return new BadValue(
      this.column,
      `${kind}, or a valid Date that is one`,
      ms === undefined ? value : `Date ${new Date(ms)}`,
    );
  }
}
