// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Segment } from "./message.js";
import { unreadable } from "./refusal.js";
import { atRow, type RowClass, type RowView } from "./row.js";
import type { Shape } from "./shape.js";
import { arrays, type Values } from "./vector/numbers.js";
import type { Vector } from "./vector/vector.js";

/**
 * A cursor over the rows of one chunk.
 *
 * The caller moves the cursor by the chunk's own row numbers. The cursor never continues into another chunk. If a loop could do so, even
 * rarely, the engine would keep the loop's sum in memory in every step (spec/decisions).
 */
export class ChunkCursor<R> {
  /** The table's row number of this chunk's row 0. */
  readonly first: number;
  /** The number of rows. */
  readonly length: number;
  private readonly start: number;
  private readonly row: RowView;

  /** Throws `released` and `protocol`, like the first read of a chunk. */
  constructor({ chunk, start, rows }: Segment, first: number, MovingRow: RowClass) {
    this.first = first;
    this.length = rows;
    this.start = start;
    this.row = new MovingRow(chunk.vectors, start);
  }

  /**
   * Moves to a row from 0 to `length - 1`, and returns it.
   *
   * The result is the same object each time. Allocates nothing. If `row` is outside that range or not a whole number, reading a column
   * throws. A struct throws only if one of its own columns is read.
   */
  at(row: number): R {
    const view = this.row;
    // No column has row -1, so reads fail there. This method then needs no `throw`, and the loop has no call that slows it. `>>>` tests
    // for whole numbers: with `|` and one more comparison, some runs of the loop took three times as long.
    view[atRow] = row >>> 0 === row && row < this.length ? row + this.start : -1;
    return view as R;
  }
}

const s0 = Symbol("0");
const s1 = Symbol("1");
const s2 = Symbol("2");
const s3 = Symbol("3");
const s4 = Symbol("4");
const s5 = Symbol("5");

type Slots = { [atRow]: number } & {
  [Name in typeof s0 | typeof s1 | typeof s2 | typeof s3 | typeof s4 | typeof s5]: Values;
};
type Getter = (this: Slots) => unknown;

// Written out, so that each column of numbers has its own slot, and each place in the code reads only one kind of array.
const getters: readonly Getter[] = [
  function (this: Slots) {
    return this[s0][this[atRow]] ?? nothing(this[s0]);
  },
  function (this: Slots) {
    return this[s1][this[atRow]] ?? nothing(this[s1]);
  },
  function (this: Slots) {
    return this[s2][this[atRow]] ?? nothing(this[s2]);
  },
  function (this: Slots) {
    return this[s3][this[atRow]] ?? nothing(this[s3]);
  },
  function (this: Slots) {
    return this[s4][this[atRow]] ?? nothing(this[s4]);
  },
  function (this: Slots) {
    return this[s5][this[atRow]] ?? nothing(this[s5]);
  },
];

/** Returns the class of rows that move within a chunk. Reads of the first six columns of numbers make no call. */
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
