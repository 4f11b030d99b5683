// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import { movingRow, readMessage, Segments } from "./chunk.js";
import { type Fields, type RowOf, shapesOf, type WriteOf } from "./field.js";
import { type RowClass, rowClass } from "./row.js";
import { difference, type Shape } from "./shape.js";
import { type ArrowTable, Table } from "./table.js";
import { TableWriter, type WriterOptions } from "./writer.js";

declare const fieldsOf: unique symbol;

/** The fields that a record was declared with. */
export type FieldsOf<R> = R extends { readonly [fieldsOf]: infer F extends Fields } ? F : never;

/** The type of a row that a reader of a table gets. */
export type Row<R> = RowOf<FieldsOf<R>>;

/** The type of a row that a writer takes. */
export type NewRow<R> = WriteOf<FieldsOf<R>>;

/** The type of a table's rows. Two record types are equal if they have the same columns in the same order. */
export class RecordType<F extends Fields = Fields> {
  declare readonly [fieldsOf]: F;
  /** The columns, as data. */
  readonly shapes: readonly Shape[];
  /** @internal */
  readonly Row: RowClass;
  #movingRow: RowClass | undefined;

  /** Applications use {@link record} instead. */
  constructor(shapes: readonly Shape[]) {
    this.shapes = shapes;
    this.Row = rowClass(shapes);
  }

  /** @internal */
  get MovingRow(): RowClass {
    this.#movingRow ??= movingRow(this.shapes, this.Row);
    return this.#movingRow;
  }

  /** Creates a writer for a table of such rows. Throws `invalid-argument`. */
  table(options?: WriterOptions): TableWriter<RecordType<F>> {
    return new TableWriter<RecordType<F>>(this, options);
  }

  /** Makes a table from these rows, on the calling thread. Throws the errors of `push`. */
  tableOf(rows: Iterable<WriteOf<F>>, options?: WriterOptions): Table<RecordType<F>> {
    const writer = this.table(options);
    writer.pushAll(rows);
    return writer.finish();
  }

  /**
   * Returns the table in a received value. Use it for a value inside another object, or from another transport.
   *
   * Takes O(columns + chunks). Copies nothing and takes ownership of the buffers. Throws `protocol` if the value is not a table or has
   * other columns, and `released` if its memory was moved away. If a chunk's columns are malformed, the first read of that chunk throws.
   */
  from(value: unknown): Table<RecordType<F>> {
    const table = tableFrom(value);
    const { shapes } = table.schema;
    if (signature(shapes) === signature(this.shapes)) return table as Table<RecordType<F>>;
    throw new ClearwayError("protocol", `a table of other columns: ${difference(shapes, this.shapes)}`);
  }

  /**
   * Makes a table from a table of the package `apache-arrow`. Both must have the same columns.
   *
   * Copies each buffer once, because a table owns its memory. Throws `missing-package`, and `protocol` for other columns.
   */
  async fromArrow(arrow: ArrowTable): Promise<Table<RecordType<F>>> {
    const { fromArrow } = await import("./arrow/arrow.js");
    return this.from(await fromArrow(arrow, this.shapes));
  }
}

/**
 * Declares a record type: `record({ rollNum: u32, name: text({ dictionary: true }) })`.
 *
 * A second call with the same columns is cheap, because it reuses the row classes. Throws `invalid-argument`.
 */
export function record<F extends Fields>(fields: F): RecordType<F> {
  return recordOf(shapesOf(fields)) as RecordType<F>;
}

/** Returns the table in a received value, whatever its columns are. See {@link RecordType.from}. */
export function tableFrom(value: unknown): Table {
  if (value instanceof Table) return value;
  const { shapes, segments } = readMessage(value);
  return new Table(recordOf(shapes), new Segments(segments));
}

/** Makes a table from an Arrow table, whatever its columns are. See {@link RecordType.fromArrow}. */
export async function tableFromArrow(arrow: ArrowTable): Promise<Table> {
  const { fromArrow } = await import("./arrow/arrow.js");
  return tableFrom(await fromArrow(arrow));
}

// All tables with the same columns share one row class, so code that reads a stream of tables handles one class.
const known = new Map<string, RecordType>();
// Limits of `known`, which no real program reaches. The limits prevent a sender of ever new columns from filling the memory.
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
