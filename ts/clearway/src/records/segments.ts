// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Chunk } from "./chunk.js";
import type { Segment } from "./message.js";

/** The runs of rows that a table is made of, and where in them a row is. */
export class Segments {
  readonly length: number;
  /** Where each run ends, counted in the table's rows. */
  readonly #ends: number[] = [];

  constructor(readonly list: readonly Segment[]) {
    let end = 0;
    for (const { rows } of list) {
      end += rows;
      this.#ends.push(end);
    }
    this.length = end;
  }

  /** Where a row is; undefined outside. Counts from the end when negative. Allocates the answer. */
  find(row: number): { chunk: Chunk; row: number } | undefined {
    const whole = Math.trunc(row) || 0;
    const at = whole < 0 ? this.length + whole : whole;
    if (at < 0 || at >= this.length) return undefined;
    const index = this.#indexOf(at);
    const { chunk, start, rows } = this.list[index]!;
    return { chunk, row: start + at - (this.#ends[index]! - rows) };
  }

  /** The runs of rows `from` up to `to`, both inside. Copies nothing. */
  cut(from: number, to: number): Segments {
    if (from >= to) return new Segments([]);
    const cut: Segment[] = [];
    for (let index = this.#indexOf(from); index < this.list.length; index++) {
      const { chunk, start, rows } = this.list[index]!;
      const first = this.#ends[index]! - rows;
      if (first >= to) break;
      const skip = Math.max(0, from - first);
      const kept = Math.min(rows, to - first) - skip;
      if (kept > 0) cut.push({ chunk, start: start + skip, rows: kept });
    }
    return new Segments(cut);
  }

  // The first run that ends beyond the row: O(log chunks).
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
