// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../../error/clearway-error.js";

/** A number that is encoded as float64 even when it is whole. Arithmetic treats it as the number. */
export class Float64 {
  constructor(readonly value: number) {}

  /** Returns the number, so that arithmetic works. */
  valueOf(): number {
    return this.value;
  }

  /** Returns the number for `JSON.stringify`. */
  toJSON(): number {
    return this.value;
  }
}

/**
 * Forces float64 on the wire. The standard codec encodes a whole `number` as an integer, and some receivers distinguish
 * integers from floats. Throws `invalid-argument` unless the value is a number.
 */
export function float64(value: number): Float64 {
  if (typeof value !== "number") throw invalid("value", "a number", value);
  return new Float64(value);
}
