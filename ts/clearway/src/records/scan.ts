// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Segment } from "./message.js";
import { atRow, inChunk, type RowClass, type RowView } from "./row.js";

/**
 * Goes through rows with one cursor: the same object each time, standing at the next row. Allocates nothing a row; even
 * the step that `next()` returns is the same one.
 */
export class Scan<R> implements IterableIterator<R, undefined> {
  readonly #segments: readonly Segment[];
  readonly #Row: RowClass;
  #cursor: RowView | undefined;
  #step: { done: false; value: R } | undefined;
  #next = 0;
  #last = -1;

  constructor(segments: readonly Segment[], Row: RowClass) {
    this.#segments = segments;
    this.#Row = Row;
  }

  next(): IteratorResult<R, undefined> {
    const cursor = this.#cursor;
    if (cursor !== undefined && cursor[atRow] < this.#last) {
      cursor[atRow]++;
      return this.#step!;
    }
    return this.#enter();
  }

  [Symbol.iterator](): this {
    return this;
  }

  #enter(): IteratorResult<R, undefined> {
    let segment = this.#segments[this.#next++];
    while (segment !== undefined && segment.rows === 0) segment = this.#segments[this.#next++];
    if (segment === undefined) {
      this.#cursor = undefined;
      return { done: true, value: undefined };
    }
    const { chunk, start, rows } = segment;
    this.#last = start + rows - 1;
    if (this.#cursor === undefined) {
      this.#cursor = new this.#Row(chunk.vectors, start);
      this.#step = { done: false, value: this.#cursor as R };
    } else {
      this.#cursor[inChunk] = chunk.vectors;
      this.#cursor[atRow] = start;
    }
    return this.#step!;
  }
}
