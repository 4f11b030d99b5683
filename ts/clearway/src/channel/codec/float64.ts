// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../../error/clearway-error.js";

/** A number that the standard codec encodes as float64, even if it is whole. In arithmetic it acts as the number. */
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
 * Makes the standard codec encode a number as float64. Without this function, the codec encodes a whole number as an integer.
 * Some receivers distinguish integers from floats. Throws `invalid-argument` unless the value is a number.
 */
export function float64(value: number): Float64 {
  if (typeof value !== "number") throw invalid("value", "a number", value);
  return new Float64(value);
}
