// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked, type Rules, type Test } from "../error/checked.js";
import { type CrossesAs, type crossesAs, markTable } from "../transfer/crossing.js";
import { ChunkCursor, type Segment, type Segments, type TableMessage } from "./chunk.js";
import type { Field, NumberPart, RowOf, TypesOf } from "./field.js";
import type { FieldsOf, RecordType, Row } from "./record.js";
import { invalid, released } from "./refusal.js";
import { readColumn, rowObject } from "./row.js";
import type { NumberKind, Shape } from "./shape.js";
import { arrays, Unsendable, type Vector } from "./vector/vector.js";

// Applications' code must compile against this type even if the optional package is not installed.
/** A table of the optional package `apache-arrow`. The type is `any` if that package is not installed. */
// biome-ignore lint/suspicious/noTsIgnore: only an error where the package is missing
/** @ts-ignore: an optional peer */
export type ArrowTable = import("apache-arrow").Table;

/** The rows to convert into objects. */
export interface ObjectWindow {
  /** The first row. Default: 0. */
  from?: number | undefined;
  /** The end of the window: the row after the last one. Default: the table's length. */
  to?: number | undefined;
  /** The maximum number of objects. A larger window throws. Default: 10,000. */
  rowsMax?: number | undefined;
}

// 10,000 objects of two columns took 1 to 3 ms, less than a frame. A million objects took 137 ms at once. Dividing that work into
// slices would not prevent dropped frames, because collecting the objects as garbage also blocks the thread.
const rowsMaxDefault = 10_000;

const number: Test = (value) => (typeof value === "number" && !Number.isNaN(value)) || "a number";
const windowRules: Rules = { from: number, to: number, rowsMax: number };

/**
 * Rows that are stored by column, in chunks. A table is immutable.
 *
 * A table is sent to another thread without decoding: as a task's result, as a value of a stream, or as an argument. `move(table)` moves an
 * argument. Without `move`, an argument is copied. After a move the sender has none of the memory, and its reads throw `released`.
 */
export class Table<R extends RecordType = RecordType> implements Iterable<Row<R>>, CrossesAs<Table<R>> {
  declare readonly [crossesAs]: Table<R>;
  /** The table as a message. The constructor makes this an own property, because structured clone reads only own properties. */
  declare readonly "clearway:records": TableMessage;
  readonly #schema: R;
  readonly #segments: Segments;

  /** Writers and transports create tables. See {@link RecordType}. */
  constructor(schema: R, segments: Segments) {
    this.#schema = schema;
    this.#segments = segments;
    markTable(this, () => this.toMessage());
  }

  /** The number of rows, even after the memory is gone. */
  get length(): number {
    return this.#segments.length;
  }

  get schema(): R {
    return this.#schema;
  }

  /** The number of bytes of the table's chunks, or 0 after they are gone. A slice counts each of its chunks as a whole. */
  get byteLength(): number {
    return [...this.#chunks()].reduce((sum, { data }) => sum + data.byteLength, 0);
  }

  /**
   * Returns a row, or `undefined` if there is no such row. Negative rows count from the end, as in `Array.at`.
   *
   * Each call returns a new object. Reading a property of the row reads the table's memory.
   */
  at(row: number): Row<R> | undefined {
    const place = this.#segments.find(row);
    return place && (new this.#schema.Row(place.chunk.vectors, place.row) as Row<R>);
  }

  /**
   * Returns a cursor for each chunk. Cursors are the fastest way to read row by row.
   *
   * The caller moves each cursor by row number in an inner loop. Row numbers count from the cursor's first row. Allocates each cursor when
   * the outer loop reaches its chunk.
   */
  *cursors(): IterableIterator<ChunkCursor<Row<R>>, undefined> {
    let first = 0;
    for (const segment of this.#segments.list) {
      yield new ChunkCursor(segment, first, this.#schema.MovingRow);
      first += segment.rows;
    }
    return undefined;
  }

  /** Iterates over the rows. Each row is a separate object that stays valid as long as the table. */
  *[Symbol.iterator](): IterableIterator<Row<R>, undefined> {
    const { Row: RowType } = this.#schema;
    for (const { chunk, start, rows } of this.#segments.list) {
      const { vectors } = chunk;
      for (let row = start; row < start + rows; row++) yield new RowType(vectors, row) as Row<R>;
    }
    return undefined;
  }

  /** Returns a column. Throws `invalid-argument` if the table has no column with that name. Copies nothing. */
  column<Name extends keyof FieldsOf<R> & string>(name: Name): Column<FieldsOf<R>[Name]> {
    const { shapes } = this.#schema;
    const at = shapes.findIndex((shape) => shape.name === name);
    const shape = shapes[at];
    if (!shape) throw invalid("name", `one of ${shapes.map((each) => each.name).join(", ")}`, name);
    return new Column(this.#segments, shape, at);
  }

  /**
   * Returns the rows from `from` up to `to`, counted as in `Array.slice`.
   *
   * Copies nothing. The slice shares its chunks with this table. Moving or releasing one of the two takes the shared memory from both.
   */
  slice(from = 0, to = this.length): Table<R> {
    const inside = (at: number): number => {
      const whole = Math.trunc(at) || 0;
      return Math.min(this.length, Math.max(0, whole < 0 ? this.length + whole : whole));
    };
    return new Table(this.#schema, this.#segments.slice(inside(from), inside(to)));
  }

  /**
   * Returns plain objects for a window of rows.
   *
   * Throws `invalid-argument` for more than `rowsMax` rows (10,000), because a million objects would block the thread for several frames.
   * Bytes and lists in the objects stay views of the table's memory.
   */
  toObjects(window: ObjectWindow = {}): RowOf<FieldsOf<R>>[] {
    const { from = 0, to = this.length, rowsMax = rowsMaxDefault } = checked(window, windowRules);
    const slice = this.slice(from, to);
    if (slice.length > rowsMax) {
      throw invalid(
        "toObjects()",
        `of at most ${rowsMax} rows; give { from, to }, or rowsMax, or use cursors()`,
        slice.length,
      );
    }
    const { shapes } = this.#schema;
    return Array.from(slice, (row) => rowObject(shapes, row as never) as RowOf<FieldsOf<R>>);
  }

  /**
   * Frees memory now, without waiting for garbage collection. Frees all chunks, or only those whose rows all come before the row `before`.
   *
   * Afterwards every row and slice of that memory throws `released`, and every array that views it is empty.
   */
  release(options: { before?: number | undefined } = {}): void {
    const { before = this.length } = checked(options, { before: number });
    let end = 0;
    // A received table may have several segments of one chunk.
    const kept = new Set<Segment["chunk"]>();
    for (const { chunk, rows } of this.#segments.list) {
      end += rows;
      if (end > before) kept.add(chunk);
    }
    for (const chunk of this.#chunks()) if (!kept.has(chunk)) chunk.release();
  }

  /**
   * Returns the table as a table of the package `apache-arrow`. Copies nothing: its vectors are views of this table's memory.
   *
   * Throws `missing-package` if the package is not installed.
   */
  async toArrow(): Promise<ArrowTable> {
    const { toArrow } = await import("./arrow/arrow.js");
    return toArrow(this.#schema.shapes, this.#segments.list);
  }

  /** Returns the table as plain data with its buffers, for your own transport. Copies nothing. Throws `released`. */
  toMessage(): TableMessage {
    return {
      version: 1,
      columns: this.#schema.shapes,
      chunks: this.#segments.list.map(({ chunk, start, rows }) => {
        // Throws here if the memory is gone, so that the error has the right code.
        if (chunk.data.byteLength === 0) throw released();
        return { data: chunk.data, start, rows };
      }),
    };
  }

  #chunks(): Set<Segment["chunk"]> {
    return new Set(this.#segments.list.map(({ chunk }) => chunk));
  }
}

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
