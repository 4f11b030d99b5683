// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Segment } from "./message.js";
import { atRow, inChunk, type RowClass, type RowView } from "./row.js";

/**
 * Goes through rows with one cursor: the same object each time, standing at the next row. Allocates nothing a row: the
 * step that `next()` returns is the iterator itself, which engines turn into twice as fast a loop as one object kept for
 * it (2.0 against 4.0 times a plain loop over 10 M numbers; spec/decisions/a-row-is-a-view-with-getters.md).
 */
export class Scan<R> implements Iterable<R> {
  // As an iterator's step; after the last row, what `return` statements of generators give: nothing.
  done = false;
  value: R;
  readonly #segments: readonly Segment[];
  #next = 0;
  #last = -1;

  constructor(segments: readonly Segment[], Row: RowClass) {
    this.#segments = segments;
    this.value = new Row([], -1) as R;
  }

  next(): IteratorResult<R, undefined> {
    const cursor = this.value as RowView;
    if (cursor[atRow] < this.#last) {
      cursor[atRow]++;
      return this as unknown as IteratorResult<R, undefined>;
    }
    return this.#enter();
  }

  [Symbol.iterator](): IterableIterator<R, undefined> {
    return this as unknown as IterableIterator<R, undefined>;
  }

  #enter(): IteratorResult<R, undefined> {
    let segment = this.#segments[this.#next++];
    while (segment !== undefined && segment.rows === 0) segment = this.#segments[this.#next++];
    if (segment === undefined) {
      this.done = true;
      return { done: true, value: undefined };
    }
    const { chunk, start, rows } = segment;
    const cursor = this.value as RowView;
    cursor[inChunk] = chunk.vectors;
    cursor[atRow] = start;
    this.#last = start + rows - 1;
    return this as unknown as IteratorResult<R, undefined>;
  }
}
