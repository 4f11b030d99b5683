// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Chunk } from "./chunk.js";
import type { Segment } from "./message.js";

/** The segments of a table, in order. Finds the position of a row in them. */
export class Segments {
  readonly length: number;
  /** The end of each segment, as a row number of the table. */
  readonly #ends: number[] = [];

  constructor(readonly list: readonly Segment[]) {
    let end = 0;
    for (const { rows } of list) {
      end += rows;
      this.#ends.push(end);
    }
    this.length = end;
  }

  /** Returns a row's position, or undefined if there is no such row. Negative rows count from the end. Allocates the result. */
  find(row: number): { chunk: Chunk; row: number } | undefined {
    const whole = Math.trunc(row) || 0;
    const at = whole < 0 ? this.length + whole : whole;
    if (at < 0 || at >= this.length) return undefined;
    const index = this.#indexOf(at);
    const { chunk, start, rows } = this.list[index]!;
    return { chunk, row: start + at - (this.#ends[index]! - rows) };
  }

  /** Returns the segments for the rows from `from` up to `to`. Both must be within the table. Copies no rows. */
  slice(from: number, to: number): Segments {
    if (from >= to) return new Segments([]);
    const segments: Segment[] = [];
    for (let index = this.#indexOf(from); index < this.list.length; index++) {
      const { chunk, start, rows } = this.list[index]!;
      const first = this.#ends[index]! - rows;
      if (first >= to) break;
      const skip = Math.max(0, from - first);
      const kept = Math.min(rows, to - first) - skip;
      if (kept > 0) segments.push({ chunk, start: start + skip, rows: kept });
    }
    return new Segments(segments);
  }

  // Returns the index of the first segment that ends beyond the row. Takes O(log chunks).
  #indexOf(row: number): number {
    let low = 0;
    let high = this.#ends.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#ends[middle]! > row) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
