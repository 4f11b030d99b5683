// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked, type Test, whole } from "../error/checked.js";
import { ClearwayError } from "../error/clearway-error.js";
import { isRow, rowExpected } from "./builder/rows.js";
import type { Field, Fields, NumberPart, Part } from "./field.js";
import * as types from "./field.js";
import { type RecordType, record } from "./record.js";
import { BadValue, badRow, invalid, shown } from "./refusal.js";
import { ColumnCounter, numberKinds, type Shape } from "./shape.js";
import type { Table } from "./table.js";
import { arrays } from "./vector/vector.js";
import { rowsPerChunkRule, type WriterOptions } from "./writer.js";

/** Options of {@link inferRecord}. */
export interface InferOptions {
  /** The number of rows, from the first row on, that determine the types. Default: 100. */
  sampleRows?: number | undefined;
}

/** The type that a reader gets for a value of type `T` in the original rows. */
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

/** The columns that are inferred for rows of type `T`. */
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

const sampleRowsRule: Test = (value) => whole(1)(value);

// A sample of this size almost always includes the first null of each nullable column, and is cheap.
const sampleRowsDefault = 100;

/**
 * Infers a record type from the first rows of some data. This function is a convenience for experiments.
 *
 * - `number` becomes `f64`, even for whole numbers, so that no later number is rejected.
 * - `bigint` becomes `i64`, and `Date` becomes `timestamp()` in ms.
 * - Arrays of numbers become `list(f64)`, and arrays of texts become `list(text())`.
 * - A column becomes `nullable` if a value in the sample is null or missing.
 * - Texts have no dictionary.
 *
 * Throws `invalid-argument` for values that fit no column type, and for columns that have only null in the sample.
 */
export function inferRecord<T extends object>(
  rows: readonly T[],
  options: InferOptions = {},
): RecordType<InferredFields<T>> {
  if (!Array.isArray(rows)) throw invalid("rows", "an array", rows);
  const { sampleRows = sampleRowsDefault } = checked(options, { sampleRows: sampleRowsRule });
  if (rows.length === 0) throw invalid("rows", "at least one row to infer columns from", "none");
  // `map` would skip holes.
  const sample = Array.from(rows.slice(0, sampleRows), (value, row) => ({ row, value }));
  return record(fieldsOf("", sample)) as unknown as RecordType<InferredFields<T>>;
}

/**
 * Makes a table from ordinary rows. Infers the columns with {@link inferRecord}.
 *
 * Throws `invalid-argument` for the first row that does not match the sample: a column has another type, or there is an additional column.
 * The error names the row and the column.
 */
export function tableFromRows<T extends object>(
  rows: readonly T[],
  options: InferOptions & WriterOptions = {},
): Table<RecordType<InferredFields<T>>> {
  const rules = { sampleRows: sampleRowsRule, rowsPerChunk: rowsPerChunkRule };
  const { sampleRows, ...rest } = checked(options, rules) as InferOptions & WriterOptions;
  const schema = inferRecord(rows, sampleRows === undefined ? {} : { sampleRows });
  const findUnknown = unknownColumnFinder(schema.shapes);
  const writer = schema.table(rest);
  for (const row of rows) {
    writer.push(row as never);
    const extra = findUnknown(row as Record<string, unknown>);
    if (extra) throw unknownColumn(...extra, writer.length - 1);
  }
  return writer.finish();
}

type FindUnknown = (row: Record<string, unknown>) => [column: string, value: unknown] | undefined;

/** Returns a function that finds a row's first unknown property. The function also searches the row's structs. */
function unknownColumnFinder(shapes: readonly Shape[], path = ""): FindUnknown {
  const names = new Set(shapes.map(({ name }) => name));
  const structs = shapes.flatMap((shape): [string, FindUnknown][] =>
    shape.kind === "struct" ? [[shape.name, unknownColumnFinder(shape.columns, `${path}${shape.name}.`)]] : [],
  );
  return (row) => {
    for (const name of Object.keys(row)) if (!names.has(name)) return [path + name, row[name]];
    for (const [name, find] of structs) {
      const inner = row[name];
      const extra = inner === null || inner === undefined ? undefined : find(inner as Record<string, unknown>);
      if (extra) return extra;
    }
    return undefined;
  };
}

function unknownColumn(column: string, value: unknown, row: number): ClearwayError {
  const error = new ClearwayError(
    "invalid-argument",
    `row ${row}: there was no column ${column} in the rows before: ${column}=${shown(value)}. Declare the columns with record().`,
  );
  return Object.assign(error, { column, row });
}

/** A value of the sample, with the number of its row. */
interface Sampled {
  readonly row: number;
  readonly value: unknown;
}

function fieldsOf(path: string, sample: readonly Sampled[], depth = 0, counter = new ColumnCounter()): Fields {
  const columns = new Map<string, Sampled[]>();
  for (const { row, value: object } of sample) {
    if (!isRow(object)) throw badRow(new BadValue(path || "the row", rowExpected, object), row);
    for (const [name, value] of Object.entries(object)) {
      const column = columns.get(name);
      if (column) column.push({ row, value });
      else columns.set(name, [{ row, value }]);
    }
  }
  // `record()` checks the same limits, but rows that contain themselves have no end.
  const wide = counter.addColumns(columns.size, depth);
  if (wide !== undefined) throw invalid(path || "the rows", `of columns that are not ${wide}`, sample[0]?.value);
  return Object.fromEntries(
    [...columns].map(([name, column]) => {
      const given = column.filter(({ value }) => value !== null && value !== undefined);
      const where = path === "" ? name : `${path}.${name}`;
      if (given.length === 0) throw invalid(where, "something else than null in the sample; declare it", null);
      const field = fieldOf(where, given, depth, counter);
      return [name, given.length === sample.length ? field : types.nullable(field)];
    }),
  );
}

function fieldOf(path: string, sample: readonly Sampled[], depth: number, counter: ColumnCounter): Field {
  const values = sample.map(({ value }) => value);
  const first = values[0];
  const simple = simpleField(first) ?? listField(values);
  if (simple) return simple;
  if (Object.prototype.toString.call(first) === "[object Object]")
    return types.struct(fieldsOf(path, sample, depth + 1, counter)) as Field;
  throw invalid(path, "of a kind that a column holds; declare the columns with record()", first);
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
  return typeof item === "string" || of === types.bool || of === types.f64 || of === types.i64
    ? (types.list(of as typeof types.f64) as Field)
    : undefined;
}
