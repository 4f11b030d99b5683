// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Part } from "../part.js";
import type { RowClass } from "../row.js";
import { type Bitmap, nullTest, Unsendable, type Vector } from "./vector.js";

/** A vector of structs, which are columns inside a column. Each read returns a new row object. */
export class StructVector extends Unsendable implements Vector {
  constructor(
    readonly columns: readonly Vector[],
    readonly Row: RowClass,
    readonly validity: Bitmap | undefined,
  ) {
    super();
  }

  get(row: number): unknown {
    return new this.Row(this.columns, row);
  }

  part(start: number, rows: number): Part {
    return { length: rows, isNull: nullTest(this.validity, start) };
  }
}
