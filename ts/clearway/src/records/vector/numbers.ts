// SPDX-License-Identifier: MIT OR Apache-2.0
import type { NumberPart } from "../part.js";
import { unreadable } from "../refusal.js";
import type { NumberKind } from "../shape.js";
import { type Bitmap, nullTest, Unsendable, type Vector } from "./vector.js";

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

export type NumberVector = new (values: Values, validity: Bitmap | undefined) => Vector;

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
