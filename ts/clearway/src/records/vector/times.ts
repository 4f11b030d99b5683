// SPDX-License-Identifier: MIT OR Apache-2.0
import type { NumberPart } from "../part.js";
import { unreadable } from "../refusal.js";
import { type Bitmap, nullTest, Unsendable, type Vector } from "./vector.js";

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
