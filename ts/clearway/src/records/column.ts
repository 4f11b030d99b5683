// SPDX-License-Identifier: MIT OR Apache-2.0

import type { Segments } from "./chunk.js";
import type { Field, NumberPart, TypesOf } from "./field.js";
import { readColumn } from "./row.js";
import type { NumberKind, Shape } from "./shape.js";
import { arrays, Unsendable, type Vector } from "./vector/vector.js";

/** One column of a table. A column stores no values but reads the table's memory. Reads throw `released` if that memory is gone. */
export class Column<F extends Field = Field> extends Unsendable {
  readonly name: string;
  readonly length: number;
  readonly #segments: Segments;
  readonly #shape: Shape;
  readonly #at: number;

  constructor(segments: Segments, shape: Shape, at: number) {
    super();
    this.name = shape.name;
    this.length = segments.length;
    this.#segments = segments;
    this.#shape = shape;
    this.#at = at;
  }

  /**
   * The column's memory, with one part per chunk. Parts are the fastest way to read a column.
   *
   * Copies nothing. The arrays in the parts are views that stay valid as long as the table. Do not post or move them.
   */
  get chunks(): TypesOf<F>["part"][] {
    return this.#segments.list.map(({ chunk, start, rows }) => this.#vector(chunk.vectors).part(start, rows));
  }

  /** Returns a row's value, or `undefined` if there is no such row. Negative rows count from the end, as in `Array.at`. */
  get(row: number): TypesOf<F>["read"] | undefined {
    const place = this.#segments.find(row);
    return place && readColumn(this.#vector(place.chunk.vectors), place.row);
  }

  /** Copies the whole column. Returns a typed array for numbers that are not nullable, otherwise an ordinary array of values. */
  toArray(): TypesOf<F>["flat"] {
    const shape = this.#shape;
    const kind = shape.nullable ? undefined : arrayKind(shape);
    if (kind === undefined) return [...this];
    const Type = arrays[kind];
    // `chunks` checks each chunk, so it comes before the allocation.
    const parts = this.chunks as unknown as NumberPart<Int32Array>[];
    const whole = new Type(this.length);
    let at = 0;
    for (const part of parts) {
      (whole as Int32Array).set(part.values, at);
      at += part.length;
    }
    return whole;
  }

  /** Iterates over the values in row order. */
  *[Symbol.iterator](): IterableIterator<TypesOf<F>["read"]> {
    for (const { chunk, start, rows } of this.#segments.list) {
      const vector = this.#vector(chunk.vectors);
      for (let row = start; row < start + rows; row++) yield readColumn(vector, row);
    }
  }

  #vector(vectors: readonly Vector[]): Vector {
    return vectors[this.#at]!;
  }
}

// Returns the kind of typed array whose elements equal the column's values, or undefined if there is none.
function arrayKind(shape: Shape): NumberKind | undefined {
  if (shape.kind === "timestamp") return shape.unit === "ns" ? "i64" : undefined;
  if (shape.kind === "date") return "i32";
  return shape.kind in arrays ? (shape.kind as NumberKind) : undefined;
}
