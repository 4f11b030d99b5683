// SPDX-License-Identifier: MIT OR Apache-2.0
import type { BitPart, NumberPart, Part } from "../field.js";
import { cannotBeSent, refused, unreadable } from "../refusal.js";
import type { NumberKind } from "../shape.js";

/** One column of one chunk, for reading by row. Row numbers count from the chunk's first row. */
export interface Vector {
  readonly validity: Bitmap | undefined;
  /** Returns the value of a non-null row. `row` must be inside the chunk. Throws if the memory is gone or malformed. */
  get(row: number): unknown;
  /** Returns consecutive rows as raw memory. */
  part(start: number, rows: number): Part;
}

/** The base class of all vectors. Structured clone rejects any object that contains a vector, before it copies memory. */
export class Unsendable {
  readonly [cannotBeSent] = refused;
}

/** A sequence of bits, least significant bit of a byte first. */
export class Bitmap {
  constructor(readonly bytes: Uint8Array) {}

  get(at: number): boolean {
    const byte = this.bytes[at >> 3];
    if (byte === undefined) throw unreadable(this.bytes.buffer, "bits end before their column does");
    return ((byte >> (at & 7)) & 1) === 1;
  }
}

/** Returns the `isNull` function of a part that begins at row `start`. */
export function nullTest(validity: Bitmap | undefined, start: number): (row: number) => boolean {
  return validity === undefined ? () => false : (row) => !validity.get(start + row);
}

/** A vector of booleans, stored in one bit each. */
export class BitVector extends Unsendable implements Vector {
  constructor(
    readonly bits: Bitmap,
    readonly validity: Bitmap | undefined,
  ) {
    super();
  }

  get(row: number): boolean {
    return this.bits.get(row);
  }

  part(start: number, rows: number): BitPart {
    const first = start >> 3;
    return {
      length: rows,
      bits: this.bits.bytes.subarray(first, (start + rows + 7) >> 3),
      bitOffset: start - first * 8,
      isNull: nullTest(this.validity, start),
    };
  }
}

export type Values =
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

interface ValuesType {
  new (buffer: ArrayBuffer, byteOffset?: number, length?: number): Values;
  new (length: number): Values;
  readonly BYTES_PER_ELEMENT: number;
  readonly name: string;
}

/** The class of typed array for each kind of number. */
export const arrays: Readonly<Record<NumberKind, ValuesType>> = {
  i8: Int8Array,
  i16: Int16Array,
  i32: Int32Array,
  i64: BigInt64Array,
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  u64: BigUint64Array,
  f32: Float32Array,
  f64: Float64Array,
};

type NumberVector = new (values: Values, validity: Bitmap | undefined) => Vector;

/**
 * Creates a separate class for each kind of number. If one class served all kinds, one place in the code would read ten kinds of array.
 * Engines make such a place slow for all kinds: a scan took 9 times as long (spec/decisions).
 */
function makeClass(): NumberVector {
  return class extends Unsendable implements Vector {
    readonly values: Values;
    readonly validity: Bitmap | undefined;

    constructor(values: Values, validity: Bitmap | undefined) {
      super();
      this.values = values;
      this.validity = validity;
    }

    get(row: number): unknown {
      const value = this.values[row];
      if (value === undefined) throw unreadable(this.values.buffer, "a column ends before its table does");
      return value;
    }

    part(start: number, rows: number): NumberPart<unknown> {
      const { values, validity } = this;
      return { length: rows, values: values.subarray(start, start + rows), isNull: nullTest(validity, start) };
    }
  };
}

const classes = new Map<NumberKind, NumberVector>();

export function numberVector(kind: NumberKind): NumberVector {
  const known = classes.get(kind);
  if (known) return known;
  const made = makeClass();
  classes.set(kind, made);
  return made;
}

/**
 * A vector of timestamps in seconds, milliseconds or microseconds. A read returns a number, made from two 32-bit halves, because reading
 * a 64-bit array allocates a bigint.
 */
export class TimeVector extends Unsendable implements Vector {
  readonly #halves: Int32Array;

  constructor(
    readonly values: BigInt64Array,
    readonly validity: Bitmap | undefined,
  ) {
    super();
    this.#halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  }

  get(row: number): number {
    const low = this.#halves[row * 2];
    const high = this.#halves[row * 2 + 1];
    if (low === undefined || high === undefined) {
      throw unreadable(this.values.buffer, "a column ends before its table does");
    }
    return high * 0x1_0000_0000 + (low >>> 0);
  }

  part(start: number, rows: number): NumberPart<BigInt64Array> {
    const { values, validity } = this;
    return { length: rows, values: values.subarray(start, start + rows), isNull: nullTest(validity, start) };
  }
}
