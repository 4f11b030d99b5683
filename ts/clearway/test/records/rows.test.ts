// SPDX-License-Identifier: MIT OR Apache-2.0
import { bool, bytes, nullable, record, struct, type Table, text, u8, u32 } from "clearway/records";
import { describe, expect, test } from "vitest";
import { namesWhatItRefuses } from "../fixtures/capabilities.js";
import { plain, thrown } from "./students.js";

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
