// SPDX-License-Identifier: MIT OR Apache-2.0

import { BadValue, detached } from "../refusal.js";
import type { NumberKind, TimeUnit } from "../shape.js";
import { encodeUtf8, isDetached, timeOf, typedArrayLength, typedArrayName } from "../values.js";
import { arrays, type Values } from "../vector/vector.js";
import { type Builder, bytesOf, firstRows, type Growth, grown, noBytes } from "./builder.js";

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
    if (isDetached(value)) throw detached(this.column, value);
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
