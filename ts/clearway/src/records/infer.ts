// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, invalid } from "../error/clearway-error.js";
import type { Field, Fields } from "./field.js";
import * as types from "./field.js";
import type { NumberPart, Part } from "./part.js";
import { type RecordType, record } from "./record.js";
import { shown } from "./refusal.js";
import { numberKinds } from "./shape.js";
import type { Table } from "./table.js";
import { arrays } from "./vector/numbers.js";
import type { WriterOptions } from "./writer.js";

export interface InferOptions {
  /** How many rows, from the first on, tell the types; default 100. */
  sampleRows?: number;
}

/** What a value of an ordinary row reads as, once it is in a table. */
type ReadAs<T> = T extends Date
  ? number
  : T extends readonly number[]
    ? Float64Array
    : T extends undefined
      ? null
      : T extends object
        ? T extends ArrayBufferView | readonly unknown[]
          ? T
          : { readonly [Name in keyof T]: ReadAs<T[Name]> }
        : T;

/** The columns that rows of type `T` are inferred to have. */
export type InferredFields<T> = {
  readonly [Name in keyof T & string]-?: [T[Name]] extends [number]
    ? typeof types.f64
    : Field<{
        read: ReadAs<T[Name]>;
        write: T[Name];
        flat: ReadAs<T[Name]>[];
        part: T[Name] extends Date ? NumberPart<BigInt64Array> : Part;
      }>;
};

// Enough to meet a column's first null nearly always, and no work to speak of.
const sampleRowsDefault = 100;

/**
 * The record that some rows seem to have, by the first of them: a convenience for trying things out. `number` becomes
 * `f64`, whole or not, so that no later number can be wrong; `bigint` `i64`; `Date` a timestamp of ms; arrays of numbers
 * `list(f64)`; a column with null or nothing in the sample `nullable`. Texts have no dictionary. Throws
 * `invalid-argument` for values that no column holds, and for columns of nothing but null.
 */
export function inferRecord<T extends object>(
  rows: readonly T[],
  { sampleRows = sampleRowsDefault }: InferOptions = {},
): RecordType<InferredFields<T>> {
  if (rows.length === 0) throw invalid("rows", "at least one row to infer columns from", "none");
  const sample = rows.slice(0, sampleRows);
  return record(fieldsOf("", sample)) as unknown as RecordType<InferredFields<T>>;
}

/**
 * A table of ordinary rows, whose columns are inferred ({@link inferRecord}). Throws `invalid-argument` on drift: for the
 * first row that has another type in a column, or a column more than the sample, naming both.
 */
export function tableFromRows<T extends object>(
  rows: readonly T[],
  options: InferOptions & WriterOptions = {},
): Table<RecordType<InferredFields<T>>> {
  const schema = inferRecord(rows, options);
  const columns = new Set(schema.shapes.map(({ name }) => name));
  const writer = schema.table(options);
  for (const row of rows) {
    for (const name in row) if (!columns.has(name)) throw drift(name, writer.length, row[name]);
    writer.push(row as never);
  }
  return writer.finish();
}

function drift(column: string, row: number, value: unknown): ClearwayError {
  const error = new ClearwayError(
    "invalid-argument",
    `row ${row}: there was no column ${column} in the rows before: ${column}=${shown(value)}. Declare the columns with record().`,
  );
  return Object.assign(error, { column, row });
}

function fieldsOf(path: string, rows: readonly object[]): Fields {
  const values = new Map<string, unknown[]>();
  rows.forEach((row, at) => {
    if (row === null || typeof row !== "object") throw invalid(`row ${at}${path && ` of ${path}`}`, "an object", row);
    for (const [name, value] of Object.entries(row)) {
      const column = values.get(name);
      if (column) column.push(value);
      else values.set(name, [value]);
    }
  });
  return Object.fromEntries(
    [...values].map(([name, column]) => {
      const given = column.filter((value) => value !== null && value !== undefined);
      const where = path === "" ? name : `${path}.${name}`;
      if (given.length === 0) throw invalid(where, "something else than null in the sample; declare it", "null");
      const field = fieldOf(where, given);
      return [name, given.length === rows.length ? field : types.nullable(field)];
    }),
  );
}

function fieldOf(path: string, values: readonly unknown[]): Field {
  const first = values[0];
  const simple = simpleField(first) ?? listField(values);
  if (simple) return simple;
  if (Object.prototype.toString.call(first) === "[object Object]") {
    return types.struct(fieldsOf(path, values as object[])) as Field;
  }
  throw invalid(path, "of a kind that a column holds; declare the columns with record()", shown(first));
}

function simpleField(value: unknown): Field | undefined {
  switch (typeof value) {
    case "boolean":
      return types.bool;
    case "number":
      return types.f64;
    case "bigint":
      return types.i64;
    case "string":
      return types.text();
    default:
      if (value instanceof Date) return types.timestamp();
      return value instanceof Uint8Array ? types.bytes : undefined;
  }
}

const { i8, i16, i32, i64, u8, u16, u32, u64, f32, f64 } = types;
const numberFields = { i8, i16, i32, i64, u8, u16, u32, u64, f32, f64 };

function listField(values: readonly unknown[]): Field | undefined {
  const first = values[0];
  const kind = numberKinds.find((each) => (first as object) instanceof arrays[each]);
  if (kind) return types.list(numberFields[kind] as typeof types.f64) as Field;
  if (!Array.isArray(first)) return undefined;
  const item = (values as unknown[][]).find((list) => list.length > 0)?.[0];
  const of = simpleField(item ?? 0);
  return of === types.bool || of === types.f64 || of === types.i64
    ? (types.list(of as typeof types.f64) as Field)
    : undefined;
}
