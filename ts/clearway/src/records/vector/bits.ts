// SPDX-License-Identifier: MIT OR Apache-2.0
import type { BitPart } from "../part.js";
import { type Bitmap, nullTest, Unsendable, type Vector } from "./vector.js";

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
