// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import type { ArrowTable } from "./arrow-table.js";
import { movingRow } from "./chunk-cursor.js";
import { type CursorClass, canHaveCursor, cursorClass } from "./cursor.js";
import { difference } from "./difference.js";
import { type Fields, type RowOf, shapesOf, type WriteOf } from "./field.js";
import { readMessage } from "./message.js";
import { type RowClass, rowClass } from "./row.js";
import { Segments } from "./segments.js";
import type { Shape } from "./shape.js";
import { Table } from "./table.js";
import { TableWriter, type WriterOptions } from "./writer.js";

declare const fieldsOf: unique symbol;

/** The fields that a record was declared with. */
export type FieldsOf<R> = R extends { readonly [fieldsOf]: infer F extends Fields } ? F : never;

/** A row of a table as it is read. */
export type Row<R> = RowOf<FieldsOf<R>>;

/** A row as writers take it. */
export type NewRow<R> = WriteOf<FieldsOf<R>>;

/** What rows are made of. Two records with the same columns in the same order are one. */
export class RecordType<F extends Fields = Fields> {
  declare readonly [fieldsOf]: F;
  /** The columns, as data. */
  readonly shapes: readonly Shape[];
  /** @internal */
  readonly Row: RowClass;
  #cursor: CursorClass | undefined;
  #movingRow: RowClass | undefined;

  /** Made by {@link record}. */
  constructor(shapes: readonly Shape[]) {
    this.shapes = shapes;
    this.Row = rowClass(shapes);
  }

  /** @internal Undefined where a column has the name of a property of cursors. */
  get RowCursor(): CursorClass | undefined {
    if (this.#cursor === undefined && canHaveCursor(this.shapes)) this.#cursor = cursorClass(this.shapes, this.Row);
    return this.#cursor;
  }

  /** @internal */
  get MovingRow(): RowClass {
    this.#movingRow ??= movingRow(this.shapes, this.Row);
    return this.#movingRow;
  }

  /** A writer of a table of such rows. Throws `invalid-argument`. */
  table(options?: WriterOptions): TableWriter<RecordType<F>> {
    return new TableWriter<RecordType<F>>(this, options);
  }

  /** A table of these rows, on this thread. Throws as `push` does. */
  tableOf(rows: Iterable<WriteOf<F>>, options?: WriterOptions): Table<RecordType<F>> {
    const writer = this.table(options);
    writer.pushAll(rows);
    return writer.finish();
  }

  /**
   * The table in what has crossed: one inside of another object, or one that came by a carrier of your own. O(columns +
   * chunks), copies nothing, takes its buffers over. Throws `protocol` for what is no table, or one of other columns, and
   * `released` for memory that was moved on; a chunk with columns that it does not hold says so when it is first read.
   */
  from(value: unknown): Table<RecordType<F>> {
    const table = tableFrom(value);
    const { shapes } = table.schema;
    if (signature(shapes) === signature(this.shapes)) return table as Table<RecordType<F>>;
    throw new ClearwayError("protocol", `a table of other columns: ${difference(shapes, this.shapes)}`);
  }

  /**
   * A table of what an Arrow table of the package `apache-arrow` holds, whose columns must be these. Copies each buffer
   * once, because a table owns its memory. Throws `missing-package`, and `protocol` for other columns.
   */
  async fromArrow(arrow: ArrowTable): Promise<Table<RecordType<F>>> {
    const { fromArrow } = await import("./arrow/from-arrow.js");
    return this.from(await fromArrow(arrow, this.shapes));
  }
}

/**
 * Declares what rows are made of: `record({ rollNum: u32, name: text({ dictionary: true }) })`. Cheap the second time:
 * the classes of its rows are made once for the same columns. Throws `invalid-argument`.
 */
export function record<F extends Fields>(fields: F): RecordType<F> {
  return recordOf(shapesOf(fields)) as RecordType<F>;
}

/** The table in any value that has crossed, of whatever columns. See {@link RecordType.from}. */
export function tableFrom(value: unknown): Table {
  if (value instanceof Table) return value;
  const { shapes, segments } = readMessage(value);
  return new Table(recordOf(shapes), new Segments(segments));
}

/** A table of whatever columns an Arrow table has. See {@link RecordType.fromArrow}. */
export async function tableFromArrow(arrow: ArrowTable): Promise<Table> {
  const { fromArrow } = await import("./arrow/from-arrow.js");
  return tableFrom(await fromArrow(arrow));
}

// Rows of one class for all tables with the same columns, so that code that reads a stream of tables meets one class.
const known = new Map<string, RecordType>();
// More kinds of table than one program has; keeps a sender of ever new columns from filling the memory.
const knownMax = 1000;
const knownLettersMax = 1 << 22;
let knownLetters = 0;

function recordOf(shapes: readonly Shape[]): RecordType {
  const key = signature(shapes);
  const found = known.get(key);
  if (found) return found;
  const made = new RecordType(shapes);
  if (known.size < knownMax && knownLetters + key.length <= knownLettersMax) {
    known.set(key, made);
    knownLetters += key.length;
  }
  return made;
}

function signature(shapes: readonly Shape[]): string {
  return JSON.stringify(shapes);
}
