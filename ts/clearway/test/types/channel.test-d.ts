// SPDX-License-Identifier: MIT OR Apache-2.0
import { move as moveInPool, type Pool } from "clearway";
import { type Caller, type Endpoint, type EventStream, latest, move, schema } from "clearway/channel";
import { webSocketTransport } from "clearway/channel/websocket";
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
import { WebSocket as NodeWebSocket } from "ws";

// The check of types compiles this file against the built declarations. It never runs.

const Thermometer = schema({
  channel: "lab/thermometer",
  types: {
    unit: { oneOf: ["celsius", "kelvin"] },
    reading: { struct: { level: "f64", unit: { ref: "unit" }, note: { nullable: "text" }, at: "i64" } },
  },
  methods: {
    level: { args: { struct: { unit: { ref: "unit" }, samples: { nullable: "i32" } } }, result: { ref: "reading" } },
    image: { args: "bytes", result: { list: { map: "f32s" } } },
    reset: {},
  },
  events: {
    changed: { args: { nullable: "i32" }, value: { ref: "reading" } },
    alarm: { value: "text" },
  },
});

declare const endpoint: Endpoint;
const { call, listen } = Thermometer.caller(endpoint);
expectTypeOf(Thermometer.caller(endpoint)).toExtend<Caller<unknown>>();

interface Reading {
  readonly level: number;
  readonly unit: "celsius" | "kelvin";
  readonly note: string | null;
  readonly at: bigint;
}

// Callers may omit nullable fields. A method without arguments takes none.
expectTypeOf(call.level({ unit: "celsius" })).toEqualTypeOf<Promise<Reading>>();
expectTypeOf(call.level({ unit: "kelvin", samples: 5 }, { timeoutMs: 5 })).toEqualTypeOf<Promise<Reading>>();
expectTypeOf(call.image(move(new Uint8Array(5)))).toEqualTypeOf<Promise<{ readonly [key: string]: Float32Array }[]>>();
expectTypeOf(call.reset()).toEqualTypeOf<Promise<null>>();
expectTypeOf(listen.changed()).toEqualTypeOf<EventStream<Reading>>();
expectTypeOf(listen.changed(5, latest())).toEqualTypeOf<EventStream<Reading>>();
expectTypeOf(listen.alarm()).toEqualTypeOf<EventStream<string>>();

// @ts-expect-error: arguments are needed
void call.level();
// @ts-expect-error: no such unit
void call.level({ unit: "fahrenheit" });
// @ts-expect-error: no such field
void call.level({ unit: "celsius", sample: 5 });
// @ts-expect-error: no such method
void call.levels;
// @ts-expect-error: a method is not an event
void listen.level;

// Handlers must be complete. Arguments have their types as read, and results their types as written.
Thermometer.handle(endpoint, {
  methods: {
    level({ unit, samples }, { signal }) {
      expectTypeOf(unit).toEqualTypeOf<"celsius" | "kelvin">();
      expectTypeOf(samples).toEqualTypeOf<number | null>();
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      return { level: 5, unit, at: 5 };
    },
    async image(bytes) {
      expectTypeOf(bytes).toEqualTypeOf<Uint8Array>();
      return move([{ red: new Float32Array(5) }]);
    },
    reset() {},
  },
  events: {
    async *changed(every) {
      expectTypeOf(every).toEqualTypeOf<number | null>();
      yield { level: 5, unit: "kelvin", at: 5n } as const;
    },
    alarm(_, sink) {
      void sink.send("hot");
      // @ts-expect-error: an alarm is a text
      void sink.send(5);
    },
  },
});

// @ts-expect-error: events are missing
Thermometer.handle(endpoint, {
  methods: { level: () => ({ level: 5, unit: "kelvin", at: 5 }), image: () => [], reset() {} },
});
const methods = { level: () => ({ level: "5" }), image: () => [], reset() {} };
// @ts-expect-error: a level is a number
Thermometer.handle(endpoint, { methods, events: { changed: () => [], alarm: () => [] } });

// A schema without events needs no event handlers.
const Plain = schema({ channel: "plain", methods: { ping: {} } });
Plain.handle(endpoint, { methods: { ping() {} } });
expectTypeOf(Plain.caller(endpoint).call.ping()).toEqualTypeOf<Promise<null>>();

// @ts-expect-error: no such type
schema({ channel: "a", methods: { m: { args: "int32" } } });

// Accepts a socket of the standard's type, a browser's socket, the package's socket and the package's class.
declare const socket: WebSocket;
declare const other: NodeWebSocket;
webSocketTransport(socket);
webSocketTransport(other);
webSocketTransport("ws://localhost", { WebSocket, token: "a" });
webSocketTransport("ws://localhost", { WebSocket: NodeWebSocket });

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
  moved: () => moveInPool(Student.table()),
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
pool.call.sum(moveInPool(table));

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
