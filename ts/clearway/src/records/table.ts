// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ArrowTable } from "./arrow-table.js";
import { ChunkCursor } from "./chunk-cursor.js";
import { Column } from "./column.js";
import type { RowOf } from "./field.js";
import { brand, type Segment, type TableMessage } from "./message.js";
import type { FieldsOf, RecordType, Row } from "./record.js";
import { checkOptions, gone, invalid } from "./refusal.js";
import { rowObject } from "./row.js";
import { rowScan, Scan } from "./scan.js";
import type { Segments } from "./segments.js";

/** Which rows to make into objects. */
export interface ObjectWindow {
  /** The first row; default 0. */
  from?: number;
  /** The row after the last one; default the table's length. */
  to?: number;
  /** How many objects may be made at most; more throw. Default 10,000. */
  rowsMax?: number;
}

// 10,000 objects of two columns took 1 to 3 ms: less than a frame. A million took 137 ms at once, and could not be
// sliced to save the frames, because collecting them holds the thread as well.
const rowsMaxDefault = 10_000;

/**
 * Rows in columns, in chunks. Crosses threads with nothing decoded: as a task's result, as a value of a stream, and as an
 * argument, where `move(table)` moves it and a bare table is copied. Its sender then holds nothing of it any more, and
 * reading there throws `released`. Not to be changed.
 */
export class Table<R extends RecordType = RecordType> implements Iterable<Row<R>> {
  /** What crosses. An own property, made in the constructor: structured clone takes no others. */
  declare readonly "clearway:records": TableMessage;
  readonly #schema: R;
  readonly #segments: Segments;

  /** Tables are made by writers, and received; see {@link RecordType}. */
  constructor(schema: R, segments: Segments) {
    this.#schema = schema;
    this.#segments = segments;
    // An own property that can be enumerated is what structured clone takes of an object, so a table crosses by itself.
    Object.defineProperty(this, brand, { enumerable: true, get: () => this.toMessage() });
  }

  /** How many rows. Known also when the memory is gone. */
  get length(): number {
    return this.#segments.length;
  }

  get schema(): R {
    return this.#schema;
  }

  /** Bytes of memory that its chunks take, whole ones, also where this is a slice of them. 0 when they are gone. */
  get byteLength(): number {
    return [...this.#chunks()].reduce((sum, { data }) => sum + data.byteLength, 0);
  }

  /**
   * A row, as `Array.at` counts: from the end when negative, `undefined` outside. The row is an object of its own that
   * reads the table's memory when one of its properties is read.
   */
  at(row: number): Row<R> | undefined {
    const place = this.#segments.find(row);
    return place && (new this.#schema.Row(place.chunk.vectors, place.row) as Row<R>);
  }

  /**
   * Goes through the rows with one cursor, the same object each time: the fast way. Do not keep it; copy what you need,
   * or use `for (const row of table)`, whose rows stay.
   */
  scan(): IterableIterator<Row<R>, undefined> {
    const { RowCursor, Row: RowType } = this.#schema;
    const { list } = this.#segments;
    return RowCursor ? new Scan<Row<R>>(list, RowCursor)[Symbol.iterator]() : rowScan<Row<R>>(list, RowType);
  }

  /**
   * A cursor for each chunk, to be moved by number in a loop inside of a loop: the fastest way row by row. Rows count from
   * each chunk's first. Allocates a cursor a chunk, when that chunk's turn comes.
   */
  *cursors(): IterableIterator<ChunkCursor<Row<R>>, undefined> {
    let first = 0;
    for (const segment of this.#segments.list) {
      yield new ChunkCursor(segment, first, this.#schema.MovingRow);
      first += segment.rows;
    }
    return undefined;
  }

  /** Goes through the rows, each an object of its own that stays valid as long as the table. */
  *[Symbol.iterator](): IterableIterator<Row<R>, undefined> {
    const { Row: RowType } = this.#schema;
    for (const { chunk, start, rows } of this.#segments.list) {
      const { vectors } = chunk;
      for (let row = start; row < start + rows; row++) yield new RowType(vectors, row) as Row<R>;
    }
    return undefined;
  }

  /** A column. Throws `invalid-argument` where there is none of that name. Copies nothing. */
  column<Name extends keyof FieldsOf<R> & string>(name: Name): Column<FieldsOf<R>[Name]> {
    const { shapes } = this.#schema;
    const at = shapes.findIndex((shape) => shape.name === name);
    const shape = shapes[at];
    if (!shape) throw invalid("name", `one of ${shapes.map((each) => each.name).join(", ")}`, name);
    return new Column(this.#segments, shape, at);
  }

  /**
   * Rows `from` up to `to`, counted as `Array.slice` does. Copies nothing: the slice shares its chunks with this table, so
   * moving or releasing one takes the memory of both.
   */
  slice(from = 0, to = this.length): Table<R> {
    const inside = (at: number): number => {
      const whole = Math.trunc(at) || 0;
      return Math.min(this.length, Math.max(0, whole < 0 ? this.length + whole : whole));
    };
    return new Table(this.#schema, this.#segments.cut(inside(from), inside(to)));
  }

  /**
   * Plain objects of a window of rows. Throws `invalid-argument` for more than `rowsMax` (10,000): objects by the million
   * cost the frames that a table saves. Bytes and lists in them stay views of the table's memory.
   */
  toObjects(window: ObjectWindow = {}): RowOf<FieldsOf<R>>[] {
    checkOptions(window, ["from", "to", "rowsMax"]);
    const { from = 0, to = this.length, rowsMax = rowsMaxDefault } = window;
    checkNumber("rowsMax", rowsMax);
    const cut = this.slice(from, to);
    if (cut.length > rowsMax) {
      throw invalid(
        "toObjects()",
        `of at most ${rowsMax} rows; give { from, to }, or rowsMax, or use scan()`,
        cut.length,
      );
    }
    const { shapes } = this.#schema;
    return Array.from(cut, (row) => rowObject(shapes, row as never) as RowOf<FieldsOf<R>>);
  }

  /**
   * Frees memory now, without waiting for garbage collection (but on Node 20, which cannot): of all chunks, or of those
   * that end at or before the row `before`. Every row, view and slice of that memory throws `released` from here on, or is an
   * empty array.
   */
  release(options: { before?: number } = {}): void {
    checkOptions(options, ["before"]);
    const { before = this.length } = options;
    checkNumber("before", before);
    let end = 0;
    for (const { chunk, rows } of this.#segments.list) {
      end += rows;
      if (end <= before) chunk.release();
    }
  }

  /**
   * The table as an Arrow table of the package `apache-arrow`, whose vectors are views of this memory: copies nothing.
   * Throws `missing-package` where it is not installed.
   */
  async toArrow(): Promise<ArrowTable> {
    const { toArrow } = await import("./arrow/to-arrow.js");
    return toArrow(this.#schema.shapes, this.#segments.list);
  }

  /** What crosses: plain data with its buffers, for a carrier of your own. Copies nothing. Throws `released`. */
  toMessage(): TableMessage {
    return {
      version: 1,
      columns: this.#schema.shapes,
      chunks: this.#segments.list.map(({ chunk, start, rows }) => {
        // Memory that is gone is an error here, with its name.
        if (chunk.data.byteLength === 0) throw gone();
        return { data: chunk.data, start, rows };
      }),
    };
  }

  #chunks(): Set<Segment["chunk"]> {
    return new Set(this.#segments.list.map(({ chunk }) => chunk));
  }
}

function checkNumber(name: string, value: unknown): void {
  if (typeof value !== "number" || Number.isNaN(value)) throw invalid(name, "a number", value);
}
