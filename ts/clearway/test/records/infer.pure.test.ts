// SPDX-License-Identifier: MIT OR Apache-2.0
import {
  bool,
  type Fields,
  inferRecord,
  list,
  nullable,
  record,
  struct,
  tableFromRows,
  text,
  timestamp,
  u8,
} from "clearway/records";
import { describe, expect, test } from "vitest";
import { plain, thrown } from "./students.js";

describe("inference from rows", () => {
  test("finds a type for each ordinary value, and null for a missing one", () => {
    const rows = [
      {
        n: 1,
        s: "a",
        b: true,
        g: 1n,
        d: new Date(5),
        u: new Uint8Array([1]),
        l: [1, 2],
        f: [true],
        t: new Int16Array([3]),
        o: { x: 1 },
      },
      {
        n: 1.5,
        s: "b",
        b: false,
        g: 2n,
        d: new Date(6),
        u: new Uint8Array(),
        l: [],
        f: [],
        t: new Int16Array(),
        o: { x: 2 },
        m: "m",
      },
    ];
    const table = tableFromRows(rows);
    const kinds = Object.fromEntries(
      table.schema.shapes.map(({ name, kind, nullable }) => [name, nullable ? `${kind}?` : kind]),
    );
    expect(kinds).toEqual({
      n: "f64",
      s: "text",
      b: "bool",
      g: "i64",
      d: "timestamp",
      u: "bytes",
      l: "list",
      f: "list",
      t: "list",
      o: "struct",
      m: "text?",
    });
    expect(plain(table.toObjects())).toEqual(plain(rows.map((row) => ({ m: null, ...row, d: row.d.getTime() }))));
  });

  test("uses f64 for whole numbers, so that a fraction in a later row fits its column", () => {
    expect(
      tableFromRows([{ n: 1 }, { n: 2.5 }], { sampleRows: 1 })
        .column("n")
        .toArray(),
    ).toEqual(Float64Array.of(1, 2.5));
  });

  test.each([
    ["another type", [{ a: 1 }, { a: "x" }], { column: "a", row: 1 }],
    ["a null after the sample", [{ a: 1 }, { a: null }], { column: "a", row: 1 }],
    ["a column that was not there", [{ a: 1 }, { a: 2, b: 3 }], { column: "b", row: 1 }],
    [
      "an additional column in a struct",
      [{ o: { x: 1, p: { y: 1 } } }, { o: { x: 2, p: { y: 2, z: 3 } } }],
      { column: "o.p.z", row: 1 },
    ],
    ["a row that is not an object", [{ a: 1 }, undefined], { column: "the row", row: 1 }],
    ["a column that is missing", [{ a: 1, b: 1 }, { a: 2 }], { column: "b", row: 1 }],
  ])("refuses a row after the sample that does not fit the inferred columns: %s", (_, rows, where) => {
    expect(thrown(() => tableFromRows(rows as { a: unknown }[], { sampleRows: 1 }))).toMatchObject({
      code: "invalid-argument",
      ...where,
    });
  });

  test.each([
    ["a map", new Map([["x", 1]])],
    ["a date", new Date(1)],
    ["an array", [1]],
    ["a typed array", Float64Array.of(1)],
  ])("refuses %s in place of a struct or a row, in the sample and after it, with its column and row", (_, value) => {
    const structs = [{ o: { x: 1 } }, { o: {} }, { o: null }, { o: value }];
    const rows = [{ x: 1 }, {}, { x: null }, value];
    for (const sampleRows of [3, 4]) {
      const expected = { code: "invalid-argument", row: 3 };
      expect(thrown(() => tableFromRows(structs, { sampleRows }))).toMatchObject({ ...expected, column: "o" });
      expect(thrown(() => tableFromRows(rows, { sampleRows }))).toMatchObject({ ...expected, column: "the row" });
    }
  });

  test("names the values and options that it cannot use", () => {
    expect(thrown(() => inferRecord(5 as never))?.message).toBe("rows must be an array: rows=5");
    for (const sampleRows of [0, -1, 0.5, Number.NaN, "9" as never]) {
      expect(thrown(() => inferRecord([{ a: 1 }], { sampleRows }))?.message).toContain(
        "sampleRows must be a whole number, 1 or more",
      );
    }
    expect(thrown(() => inferRecord([]))?.message).toContain("at least one row");
    expect(thrown(() => inferRecord([{ a: null }]))?.message).toContain("a must be something else than null");
    expect(thrown(() => inferRecord([{ a: new Map() }]))?.message).toContain("a must be of a kind");
    expect(thrown(() => inferRecord([{ o: { x: () => 1 } }]))?.message).toContain("o.x");
  });
});

test("rows inherit no columns from a changed Object.prototype", () => {
  Object.defineProperty(Object.prototype, "polluted", { value: 1, enumerable: true, configurable: true });
  const { length } = tableFromRows([{ a: 1 }, { a: 2 }]);
  delete (Object.prototype as { polluted?: number }).polluted;
  expect(length).toBe(2);
});

describe("a record refuses a table with other columns, and names the first difference:", () => {
  test.each<[string, Fields, Fields]>([
    ["a is text(), not u8", { a: text() }, { a: u8 }],
    ["a is text(), not text({ dictionary: true })", { a: text() }, { a: text({ dictionary: true }) }],
    [
      'a is timestamp({ unit: "us" }), not timestamp({ unit: "ms" })',
      { a: timestamp({ unit: "us" }) },
      { a: timestamp() },
    ],
    ["b.a is nullable(u8), not u8", { b: struct({ a: nullable(u8) }) }, { b: struct({ a: u8 }) }],
    ["a is list(bool), not nullable(list(u8))", { a: list(bool) }, { a: nullable(list(u8)) }],
    ["a is nullable(struct), not struct", { a: nullable(struct({ b: u8 })) }, { a: struct({ b: u8 }) }],
    ["there is no b", { a: u8 }, { a: u8, b: u8 }],
    ["there is a further s.b", { s: struct({ a: u8, b: u8 }) }, { s: struct({ a: u8 }) }],
    ["b stands where a should", { b: u8, a: u8 }, { a: u8, b: u8 }],
  ])("%s", (difference, theirs, ours) => {
    const table = record(theirs).table().finish();
    const error = thrown(() => record(ours).from(structuredClone(table)));
    expect(error).toMatchObject({ code: "protocol", message: `a table of other columns: ${difference}` });
  });
});
