// SPDX-License-Identifier: MIT OR Apache-2.0
import { inferRecord, record, tableFromRows, text, u8 } from "clearway/records";
import { describe, expect, test } from "vitest";
import { plain, thrown } from "./students.js";

describe("inference from rows", () => {
  test("finds a type for each ordinary value, and null where a row has none", () => {
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

  test("takes whole numbers for f64, so that a later fraction is no drift", () => {
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
    ["a column that is missing", [{ a: 1, b: 1 }, { a: 2 }], { column: "b", row: 1 }],
  ])("throws on drift: %s", (_, rows, where) => {
    expect(thrown(() => tableFromRows(rows as { a: unknown }[], { sampleRows: 1 }))).toMatchObject({
      code: "invalid-argument",
      ...where,
    });
  });

  test("says what it cannot infer", () => {
    expect(thrown(() => inferRecord([]))?.message).toContain("at least one row");
    expect(thrown(() => inferRecord([{ a: null }]))?.message).toContain("a must be something else than null");
    expect(thrown(() => inferRecord([{ a: new Map() }]))?.message).toContain("a must be of a kind");
    expect(thrown(() => inferRecord([{ o: { x: () => 1 } }]))?.message).toContain("o.x");
  });
});

test("a record tells a table of other columns from its own", () => {
  const Other = record({ a: u8 });
  const table = record({ a: text() }).tableOf([{ a: "x" }]);
  const error = thrown(() => Other.from(structuredClone(table)));
  expect(error).toMatchObject({ code: "protocol", message: "a table of other columns: { a: text }, not { a: u8 }" });
});
