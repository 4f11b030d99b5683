// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../../error/clearway-error.js";

/** A number that crosses as float64 even when it is whole. In arithmetic it is the number. */
export class Float64 {
  constructor(readonly value: number) {}

  valueOf(): number {
    return this.value;
  }

  toJSON(): number {
    return this.value;
  }
}

/**
 * Forces float64 on the wire: the standard codec writes a whole `number` as an integer, and some receivers keep integers
 * and floats apart. Throws `invalid-argument` for what is no number.
 */
export function float64(value: number): Float64 {
  if (typeof value !== "number") throw invalid("value", "a number", value);
  return new Float64(value);
}
