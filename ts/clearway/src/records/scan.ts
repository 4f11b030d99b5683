// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Cursor, CursorClass } from "./cursor.js";
import type { Segment } from "./message.js";
import { type RowClass, rowKey, vectorsKey } from "./row.js";

/**
 * Iterates over rows with one cursor, the same object each time. Allocates nothing per row.
 *
 * `next()` returns the iterator itself as the result. Engines run such a loop twice as fast as a loop with a separate result object
 * (spec/decisions/a-row-is-a-view-with-getters.md).
 */
export class Scan<R> {
  // `done` and `value` are the properties of an iterator result.
  done = false;
  value: Cursor | undefined;
  // Not `#private`, because on Node 20 reading a private field in each step made the loop take twice as long.
  private readonly segments: readonly Segment[];
  private nextSegment = 0;
  private lastRow = -1;

  constructor(segments: readonly Segment[], RowCursor: CursorClass) {
    this.segments = segments;
    this.value = new RowCursor();
  }

  next(): IteratorResult<R, undefined> {
    const cursor = this.value;
    if (cursor !== undefined && ++cursor.$row <= this.lastRow) return this as unknown as IteratorResult<R, undefined>;
    return this.enter() as unknown as IteratorResult<R, undefined>;
  }

  [Symbol.iterator](): IterableIterator<R, undefined> {
    return this as unknown as IterableIterator<R, undefined>;
  }

  private enter(): this {
    let segment = this.segments[this.nextSegment++];
    while (segment !== undefined && segment.rows === 0) segment = this.segments[this.nextSegment++];
    if (segment === undefined) {
      this.done = true;
      this.value = undefined;
      return this;
    }
    const { chunk, start, rows } = segment;
    this.value?.$enter(chunk.vectors, start);
    this.lastRow = start + rows - 1;
    return this;
  }
}

/**
 * Iterates over rows with one row object, for tables that cannot have a cursor. An example is a table with a column named `$row`.
 *
 * Moves the row object by its keys `vectorsKey` and `rowKey`. This is slower than {@link Scan}. The time was not measured, but a
 * hand-written generator took 6 times as long per row as a scan on Node 20.
 */
export function* rowScan<R>(segments: readonly Segment[], Row: RowClass): IterableIterator<R, undefined> {
  const view = new Row([], 0);
  for (const { chunk, start, rows } of segments) {
    view[vectorsKey] = chunk.vectors;
    for (let row = start; row < start + rows; row++) {
      view[rowKey] = row;
      yield view as R;
    }
  }
  return undefined;
}
