// SPDX-License-Identifier: MIT OR Apache-2.0
import { move, type Pool } from "clearway";
import {
  bool,
  type Column,
  f64,
  i64,
  list,
  type NewRow,
  nullable,
  type Row,
  record,
  struct,
  type Table,
  type TableWriter,
  tableFromRows,
  text,
  timestamp,
  u8,
  u32,
} from "clearway/records";
import { expectTypeOf } from "vitest";

// The check of types compiles this file against the built declarations. It never runs.

const Student = record({ rollNum: u32, name: text({ dictionary: true }) });
type Students = Table<typeof Student>;

const Full = record({
  yes: bool,
  big: i64,
  at: timestamp(),
  nano: timestamp({ unit: "ns" }),
  bytes: list(u8),
  flags: list(bool),
  maybe: nullable(f64),
  place: struct({ city: text(), code: nullable(u8) }),
});

// A row has its columns' types, and is read-only.
expectTypeOf<Row<typeof Student>>().toEqualTypeOf<{ readonly rollNum: number; readonly name: string }>();
declare const row: Row<typeof Full>;
expectTypeOf(row.yes).toEqualTypeOf<boolean>();
expectTypeOf(row.big).toEqualTypeOf<bigint>();
expectTypeOf(row.at).toEqualTypeOf<number>();
expectTypeOf(row.nano).toEqualTypeOf<bigint>();
expectTypeOf(row.bytes).toEqualTypeOf<Uint8Array>();
expectTypeOf(row.flags).toEqualTypeOf<boolean[]>();
expectTypeOf(row.maybe).toEqualTypeOf<number | null>();
expectTypeOf(row.place.code).toEqualTypeOf<number | null>();

// A new row may omit nullable columns, and may use a Date for a timestamp.
const written: NewRow<typeof Full> = {
  yes: true,
  big: 1n,
  at: new Date(),
  nano: 1n,
  bytes: [1],
  flags: [true],
  place: { city: "x" },
};

// Writers, tables, columns.
const writer = Student.table({ rowsPerChunk: 1 << 18 });
expectTypeOf(writer.finish()).toExtend<Students>();
declare const table: Students;
expectTypeOf(table.at(0)).toEqualTypeOf<Row<typeof Student> | undefined>();
for (const each of table) expectTypeOf(each.rollNum).toEqualTypeOf<number>();
for (const each of table.cursors()) expectTypeOf(each.at(0).rollNum).toEqualTypeOf<number>();
for (const each of table) expectTypeOf(each.name).toEqualTypeOf<string>();
expectTypeOf(table.column("rollNum").toArray()).toEqualTypeOf<Uint32Array>();
expectTypeOf(table.column("rollNum").chunks[0]?.values).toEqualTypeOf<Uint32Array | undefined>();
expectTypeOf(table.column("name").chunks[0]?.codes).toEqualTypeOf<Int32Array | undefined>();
expectTypeOf(table.column("name").get(0)).toEqualTypeOf<string | undefined>();
expectTypeOf(table.column("name")).toExtend<Column>();
expectTypeOf(table.slice(1)).toEqualTypeOf<Students>();
expectTypeOf(table.toObjects()).toEqualTypeOf<{ readonly rollNum: number; readonly name: string }[]>();
expectTypeOf(Student.from({})).toEqualTypeOf<Students>();

// A task returns its writer, and the caller gets the table.
const tasks = {
  students: (_count: number) => Student.table(),
  finished: async () => Student.table().finish(),
  moved: () => move(Student.table()),
  parts: function* () {
    yield Student.table();
  },
  sum: (_students: Students) => 1,
};
declare const pool: Pool<typeof tasks>;
expectTypeOf(pool.call.students(1)).toEqualTypeOf<Promise<Students>>();
expectTypeOf(pool.call.finished()).toEqualTypeOf<Promise<Students>>();
expectTypeOf(pool.call.moved()).toEqualTypeOf<Promise<Students>>();
for await (const part of pool.call.parts()) expectTypeOf(part).toEqualTypeOf<Students>();
pool.call.sum(table);
pool.call.sum(move(table));

// Inferred columns.
const inferred = tableFromRows([{ a: 1, s: "x", m: null as string | null }]);
expectTypeOf(inferred.at(0)?.a).toEqualTypeOf<number | undefined>();
expectTypeOf(inferred.at(0)?.m).toEqualTypeOf<string | null | undefined>();
expectTypeOf(inferred.column("a").toArray()).toEqualTypeOf<Float64Array>();

// The following must not compile.
// @ts-expect-error a column of another type
writer.push({ rollNum: "1", name: "x" });
// @ts-expect-error a missing column
writer.push({ rollNum: 1 });
// @ts-expect-error no such column
table.column("nam");
// @ts-expect-error rows are read-only
for (const each of table) each.rollNum = 5;
// @ts-expect-error a list of texts has no dictionary
list(text({ dictionary: true }));
// @ts-expect-error lists do not nest
list(list(u8));
// @ts-expect-error a table with other columns
expectTypeOf<TableWriter<typeof Full>>().toEqualTypeOf<TableWriter<typeof Student>>();
// @ts-expect-error null in a column without nulls
Full.table().push({ ...written, yes: null });
