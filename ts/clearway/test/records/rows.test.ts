// SPDX-License-Identifier: MIT OR Apache-2.0
import {
  bool,
  bytes,
  f64,
  list,
  nullable,
  record,
  struct,
  type Table,
  text,
  timestamp,
  u8,
  u32,
} from "clearway/records";
import { describe, expect, test } from "vitest";
import { namesWhatItRefuses } from "../fixtures/capabilities.js";
import { plain, Student, thrown } from "./students.js";

const Nested = record({ n: u32, word: text({ dictionary: true }), place: struct({ x: u8, on: bool }) });
const nested = () =>
  Nested.tableOf(
    Array.from({ length: 9 }, (_, at) => ({ n: at, word: `w${at % 2}`, place: { x: at, on: at % 2 === 0 } })),
    { rowsPerChunk: 4 },
  );

describe("structured clone refuses a row with an error that names the table instead:", () => {
  const table = nested();
  const first = <T>(values: Iterable<T>): T => {
    for (const value of values) return value;
    throw new Error("there is none");
  };
  test.each<[string, () => unknown]>([
    ["a row of at()", () => table.at(1)],
    ["a row of for..of", () => first(table)],
    ["a row of cursors()", () => first(table.cursors()).at(1)],
    ["a struct in a row", () => table.at(1)?.place],
    ["a cursor of cursors()", () => first(table.cursors())],
    ["a column", () => table.column("n")],
    [
      "a row with a column called toJSON",
      () =>
        record({ toJSON: u8 })
          .tableOf([{ toJSON: 1 }])
          .at(0),
    ],
  ])("%s", (_, make) => {
    const value = make();
    const error = thrown(() => structuredClone(value)) as Error | undefined;
    expect(error?.name).toBe("DataCloneError");
    if (namesWhatItRefuses) expect(error?.message).toContain("send the table");
    expect(thrown(() => structuredClone({ inside: [value] }))).toBeInstanceOf(DOMException);
  });
});

describe("a table with a column called toJSON", () => {
  const Odd = record({
    toJSON: u8,
    constructor: u8,
    name: text(),
    place: struct({ toJSON: nullable(u8), raw: bytes }),
  });
  const row = { toJSON: 1, constructor: 2, name: "a", place: { toJSON: null, raw: new Uint8Array([7]) } };
  const json = '{"toJSON":1,"constructor":2,"name":"a","place":{"toJSON":null,"raw":{"0":7}}}';
  const read = (table: Table<typeof Odd>) => [
    table.at(0),
    ...table,
    [...table.cursors()][0]?.at(0),
    ...table.toObjects(),
  ];

  test("has rows whose JSON contains all columns, also the column toJSON", () => {
    for (const each of read(Odd.tableOf([row as never]))) {
      expect(JSON.stringify(each)).toBe(json);
      expect(each?.toJSON).toBe(1);
    }
  });

  test("has rows that keep their values, as other tables have", () => {
    const rows = Array.from({ length: 9 }, (_, at) => ({ ...row, toJSON: at }));
    const table = Odd.tableOf(rows as never, { rowsPerChunk: 4 });
    expect([...table].map((each) => each.toJSON)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(plain(table.toObjects())).toEqual(plain(rows));
  });
});

describe("a cursor of a chunk", () => {
  const Mixed = record({ n: u8, on: bool, none: nullable(u8), word: nullable(text({ dictionary: true })), raw: bytes });
  const table = Mixed.tableOf(
    Array.from({ length: 5 }, (_, at) => ({ n: at, on: true, none: null, word: null, raw: new Uint8Array(2) })),
  );

  test.each([0.5, -0.5, 1.999, -1, 5, Number.NaN, Infinity, -Infinity, 2 ** 32, 2 ** 32 + 1, "1", undefined])(
    "refuses to read any column of a row that is not an integer inside the chunk: %s",
    (row) => {
      const [cursor] = table.cursors();
      for (const name of ["n", "on", "none", "word", "raw"] as const) {
        expect([name, thrown(() => cursor?.at(row as number)[name])?.code]).toEqual([name, "protocol"]);
      }
      expect(cursor?.at(4).n).toBe(4);
    },
  );
});

test.each(["clearway:records", "clearway:row", "__proto__"])("a column cannot be called %s", (name) => {
  const fields = JSON.parse(`{ ${JSON.stringify(name)}: 1 }`);
  expect(thrown(() => record(fields))?.message).toContain(`a column's name`);
});

describe("a column with the name of an inherited property", () => {
  const names = ["constructor", "toString", "valueOf", "hasOwnProperty"] as const;
  const Odd = record({ constructor: nullable(u32), toString: nullable(text()), valueOf: nullable(u8) });

  test("is null in a row that only inherits the property", () => {
    class Made {
      valueOf() {
        return 5;
      }
    }
    const rows = [{}, new Made(), Object.create(null), Object.create({ constructor: 7 }), { constructor: 3 }];
    expect(Odd.tableOf(rows as never).toObjects()).toEqual([
      ...Array(4).fill({ constructor: null, toString: null, valueOf: null }),
      { constructor: 3, toString: null, valueOf: null },
    ]);
  });

  test("reads a getter of the row's class, such as a table row's", () => {
    const table = Odd.tableOf([{ constructor: 3, toString: "x", valueOf: 1 }] as never);
    expect(Odd.tableOf(table as never).toObjects()).toEqual([{ constructor: 3, toString: "x", valueOf: 1 }]);
  });

  test.each(names)("is missing in a row that only inherits the property, when it allows no nulls: %s", (name) => {
    const error = thrown(() => record({ [name]: u8 }).tableOf([{}] as never));
    expect(error).toMatchObject({ code: "invalid-argument", column: name, row: 0 });
    expect(error?.message).toContain("Give every row a value");
  });
});

describe("a row whose getter calls its own writer", () => {
  const rowWith = (act: () => void) => ({
    rollNum: 2,
    get name() {
      act();
      return "b";
    },
  });

  test.each<[string, (writer: ReturnType<typeof Student.table>) => void]>([
    ["push", (writer) => writer.push({ rollNum: 9, name: "z" })],
    ["pushAll", (writer) => writer.pushAll([{ rollNum: 9, name: "z" }])],
    ["finish", (writer) => void writer.finish()],
    ["structured clone", (writer) => void structuredClone(writer)],
  ])("gets a typed error from %s, and no row is lost or incomplete", (_, act) => {
    const writer = Student.table();
    writer.push({ rollNum: 1, name: "a" });
    const inner: unknown[] = [];
    writer.push(rowWith(() => void inner.push(thrown(() => act(writer)))));
    expect(inner).toMatchObject([{ code: "invalid-argument" }]);
    // When the getter passes the error on, its row is left out, and the writer keeps working.
    expect(thrown(() => writer.push(rowWith(() => act(writer))))?.code).toBe("invalid-argument");
    writer.push({ rollNum: 3, name: "c" });
    expect(writer.finish().toObjects()).toEqual([
      { rollNum: 1, name: "a" },
      { rollNum: 2, name: "b" },
      { rollNum: 3, name: "c" },
    ]);
  });

  test.each([new Error("mine"), "mine", null, undefined])("passes on the error that it throws: %s", (reason) => {
    const writer = Student.table({ rowsPerChunk: 1 });
    let caught: unknown = "nothing";
    try {
      writer.push(
        rowWith(() => {
          throw reason;
        }),
      );
    } catch (error) {
      caught = error;
    }
    expect(caught).toBe(reason);
    writer.push({ rollNum: 3, name: "c" });
    expect(writer.finish().toObjects()).toEqual([{ rollNum: 3, name: "c" }]);
  });
});

describe("a value with misleading properties", () => {
  const Lies = record({ raw: nullable(bytes), tags: nullable(list(f64)), at: nullable(timestamp({ unit: "ns" })) });
  const lying = <T extends object>(value: T, name: string, said: unknown): T =>
    Object.defineProperty(value, name, { value: said });

  test("is read as its real contents: bytes, lists and dates", () => {
    const rows = [-5, 1, 1e9, Number.NaN, "x"].map((said) => ({
      raw: lying(new Uint8Array([1, 2, 3]), "length", said),
      tags: lying(new Float64Array([1, 2]), "length", said),
      at: lying(new Date(5), "getTime", () => said),
    }));
    const table = Lies.tableOf(rows as never);
    const row = { raw: [1, 2, 3], tags: [1, 2], at: 5_000_000n };
    expect(plain(table.toObjects())).toEqual(Array(5).fill(row));
  });

  test.each([
    ["raw", Object.create(Uint8Array.prototype)],
    ["raw", new Proxy(new Uint8Array(3), {})],
    ["tags", Object.create(Float64Array.prototype)],
    ["tags", new Proxy(new Float64Array(3), {})],
    ["tags", new DataView(new ArrayBuffer(8))],
    ["at", Object.create(Date.prototype)],
    ["at", new Proxy(new Date(5), {})],
  ])("is refused when it only inherits from the right class: %s %#", (column, value) => {
    const writer = Lies.table();
    expect(thrown(() => writer.push({ [column]: value }))).toMatchObject({ code: "invalid-argument", column });
    writer.push({});
    expect(writer.finish().toObjects()).toEqual([{ raw: null, tags: null, at: null }]);
  });
});
