// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Segment } from "./chunk.js";
import { unreadable } from "./refusal.js";
import { type RowClass, type RowView, rowKey } from "./row.js";
import type { Shape } from "./shape.js";
import { arrays, type Values, type Vector } from "./vector/vector.js";

/**
 * A cursor over the rows of one chunk.
 *
 * The caller moves the cursor by the chunk's own row numbers. The cursor never continues into another chunk. If a loop's cursor could do
 * so, even rarely, the engine would keep the loop's sum in memory in every step, not in a register
 * (spec/decisions/a-row-is-a-view-with-getters.md).
 */
export class ChunkCursor<R> {
  /** The row number in the table of this cursor's row 0. */
  readonly first: number;
  /** The number of rows. */
  readonly length: number;
  private readonly start: number;
  private readonly row: RowView;

  /** Throws `released` or `protocol`, like the first read of a chunk. */
  constructor({ chunk, start, rows }: Segment, first: number, MovingRow: RowClass) {
    this.first = first;
    this.length = rows;
    this.start = start;
    this.row = new MovingRow(chunk.vectors, start);
  }

  /**
   * Moves to a row from 0 to `length - 1`, and returns it.
   *
   * Returns the same object each time and allocates nothing. If `row` is outside that range or not a whole number, reading a column of the
   * row throws. A struct column throws only if one of the struct's own columns is read.
   */
  at(row: number): R {
    const view = this.row;
    // Sets row -1 for a bad `row`. No column has that row, so each read throws. This method then needs no `throw`, and the loop contains no
    // call that slows it. `>>>` tests for whole numbers: with `|` and one more comparison, some runs of the loop took three times as long.
    view[rowKey] = row >>> 0 === row && row < this.length ? row + this.start : -1;
    return view as R;
  }
}

const s0 = Symbol("0");
const s1 = Symbol("1");
const s2 = Symbol("2");
const s3 = Symbol("3");
const s4 = Symbol("4");
const s5 = Symbol("5");

type Slots = { [rowKey]: number } & {
  [Name in typeof s0 | typeof s1 | typeof s2 | typeof s3 | typeof s4 | typeof s5]: Values;
};
type Getter = (this: Slots) => unknown;

// Each getter is written out. Each column of numbers then has its own slot, and each place in the code reads only one kind of array.
const getters: readonly Getter[] = [
  function (this: Slots) {
    return this[s0][this[rowKey]] ?? nothing(this[s0]);
  },
  function (this: Slots) {
    return this[s1][this[rowKey]] ?? nothing(this[s1]);
  },
  function (this: Slots) {
    return this[s2][this[rowKey]] ?? nothing(this[s2]);
  },
  function (this: Slots) {
    return this[s3][this[rowKey]] ?? nothing(this[s3]);
  },
  function (this: Slots) {
    return this[s4][this[rowKey]] ?? nothing(this[s4]);
  },
  function (this: Slots) {
    return this[s5][this[rowKey]] ?? nothing(this[s5]);
  },
];

/** Returns the class of a chunk cursor's rows. Reads of the first six columns of numbers, if not nullable, make no call. */
export function movingRow(shapes: readonly Shape[], Row: RowClass): RowClass {
  const slots = shapes.flatMap(({ nullable, kind }, at) => (nullable || !(kind in arrays) ? [] : [at]));
  class MovingRow extends Row {
    [s0]: Values | undefined;
    [s1]: Values | undefined;
    [s2]: Values | undefined;
    [s3]: Values | undefined;
    [s4]: Values | undefined;
    [s5]: Values | undefined;

    constructor(vectors: readonly Vector[], row: number) {
      super(vectors, row);
      const values = (slot: number): Values | undefined =>
        (vectors[slots[slot]!] as Partial<Record<"values", Values>> | undefined)?.values;
      this[s0] = values(0);
      this[s1] = values(1);
      this[s2] = values(2);
      this[s3] = values(3);
      this[s4] = values(4);
      this[s5] = values(5);
    }
  }
  getters.forEach((get, slot) => {
    const shape = shapes[slots[slot]!];
    if (shape) Object.defineProperty(MovingRow.prototype, shape.name, { configurable: true, enumerable: true, get });
  });
  return MovingRow;
}

function nothing({ buffer }: Values): never {
  throw unreadable(buffer, "a row is outside of its chunk, or a column ends before its table does");
}
