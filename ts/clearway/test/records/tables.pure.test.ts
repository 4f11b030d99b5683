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
import { Everything, everything, everyValue, plain, Student, students, thrown } from "./students.js";

describe("a table", () => {
  test.each([1, 7, 64, undefined])("returns every type of column, with nulls, in chunks of %s rows", (rowsPerChunk) => {
    const table = everything(150, rowsPerChunk);
    expect(table.length).toBe(150);
    expect(plain(table.toObjects())).toEqual(Array.from({ length: 150 }, (_, at) => everyValue(at)));
  });

  test("accepts negative, fractional and NaN indices in at(), as Array.at does", () => {
    const table = students(10);
    expect(table.at(3)?.rollNum).toBe(3);
    expect(table.at(-1)?.rollNum).toBe(9);
    expect(table.at(2.9)?.rollNum).toBe(2);
    expect([table.at(10), table.at(-11)]).toEqual([undefined, undefined]);
    expect(table.at(Number.NaN)?.rollNum).toBe(0);
  });

  test("returns rows that keep their values, by at() and by for..of", () => {
    const table = students(10);
    const rows = [...table];
    expect(rows.map((row) => row.rollNum)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(new Set([...rows, table.at(0)]).size).toBe(11);
  });

  test("moves one cursor per chunk, which reads the same values as at() for every type, null and slice", () => {
    const columns = Object.keys(everyValue(0) as object);
    const whole = everything(40, 7);
    for (const table of [whole, whole.slice(3, 38), whole.slice(10, 11), whole.slice(5, 5)]) {
      let rows = 0;
      for (const cursor of table.cursors()) {
        expect(cursor.first).toBe(rows);
        // Backwards, because the order of rows must not matter.
        for (let row = cursor.length - 1; row >= 0; row--) {
          const moved = cursor.at(row) as Record<string, unknown>;
          const kept = table.at(cursor.first + row) as Record<string, unknown>;
          for (const name of columns) expect(plain(moved[name])).toEqual(plain(kept[name]));
          expect(cursor.at(row)).toBe(moved);
        }
        rows += cursor.length;
      }
      expect(rows).toBe(table.length);
    }
  });

  test("refuses reads by a cursor outside its chunk's rows, outside a slice, and after a release", () => {
    const table = students(20).slice(3, 17);
    for (const cursor of table.cursors()) {
      for (const row of [-1, cursor.length, Number.NaN, Infinity]) {
        expect(thrown(() => cursor.at(row).rollNum)?.code).toBe("protocol");
        expect(thrown(() => cursor.at(row).name)?.code).toBe("protocol");
      }
    }
    const [cursor] = table.cursors();
    expect(cursor?.at(0).rollNum).toBe(3);
    table.release();
    expect(thrown(() => cursor?.at(0).rollNum)?.code).toBe("released");
    expect(thrown(() => [...table.cursors()])?.code).toBe("released");
  });

  test("slices without a copy, also from slices and to an empty slice", () => {
    const table = students(20);
    const numbers = (from?: number, to?: number): number[] => [...table.slice(from, to)].map((row) => row.rollNum);
    const whole = Array.from({ length: 20 }, (_, at) => at);
    for (const [from, to] of [
      [3, 17],
      [4, 8],
      [-3, undefined],
      [0, -18],
      [5, 5],
      [9, 2],
      [undefined, 99],
    ] as const) {
      expect(numbers(from, to)).toEqual(whole.slice(from, to));
    }
    expect(table.slice(3, 17).slice(2, 9).column("rollNum").get(0)).toBe(5);
    expect(table.slice(3, 5).byteLength).toBeLessThan(table.byteLength);
  });

  test("returns a column as values, as parts of memory, and as one copy", () => {
    const table = students(10);
    const numbers = table.column("rollNum");
    expect([numbers.get(9), numbers.get(-10), numbers.get(10)]).toEqual([9, 0, undefined]);
    expect(numbers.chunks.map(({ values }) => [...values])).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
      [8, 9],
    ]);
    expect(numbers.toArray()).toEqual(Uint32Array.from({ length: 10 }, (_, at) => at));
    expect([...table.slice(2, 5).column("name")]).toEqual(["name 2", "name 0", "name 1"]);
    const [part] = table.slice(1, 4).column("name").chunks;
    expect(Array.from(part?.codes ?? [], (code) => part?.dictionary[code])).toEqual(["name 1", "name 2", "name 0"]);
    expect(thrown(() => table.column("nam" as "name"))?.message).toBe('name must be one of rollNum, name: name="nam"');
  });

  test("reports the null rows of a part, at any bit offset", () => {
    const [part] = everything(20).slice(5, 15).column("some").chunks;
    const nulls = Array.from({ length: 10 }, (_, at) => part?.isNull(at));
    expect(nulls).toEqual(Array.from({ length: 10 }, (_, at) => (at + 5) % 3 === 0));
  });

  test("refuses to make more than rowsMax objects at once", () => {
    const table = students(10_001, 5000);
    expect(thrown(() => table.toObjects())?.code).toBe("invalid-argument");
    expect(table.toObjects({ from: 9_999 })).toEqual([
      { rollNum: 9_999, name: "name 0" },
      { rollNum: 10_000, name: "name 1" },
    ]);
    expect(table.toObjects({ rowsMax: 10_001 })).toHaveLength(10_001);
  });

  test("is empty when no row was pushed", () => {
    const table = Everything.table().finish();
    expect([table.length, table.byteLength, table.at(0), [...table], table.toObjects()]).toEqual([
      0,
      0,
      undefined,
      [],
      [],
    ]);
    expect(table.column("b32").toArray()).toEqual(new Int32Array(0));
  });

  test("converts a row to JSON", () => {
    expect(JSON.stringify(students(2).at(1))).toBe('{"rollNum":1,"name":"name 1"}');
  });

  test("frees its memory when it is released, in part or whole, and later reads throw `released`", () => {
    const table = students(10);
    const first = table.at(0);
    const late = table.at(9);
    table.release({ before: 5 });
    expect(thrown(() => first?.rollNum)?.code).toBe("released");
    expect(thrown(() => first?.name)?.code).toBe("released");
    expect(late?.name).toBe("name 0");
    expect(table.at(5)?.rollNum).toBe(5);
    table.release();
    table.release();
    expect(table.byteLength).toBe(0);
    expect(table.length).toBe(10);
    const reads = [
      () => late?.name,
      () => table.at(5),
      () => [...table],
      () => [...table.cursors()],
      () => table.column("rollNum").get(1),
      () => table.column("rollNum").chunks,
      () => table.slice(1, 3).toObjects(),
      () => structuredClone(table),
    ];
    for (const read of reads) expect(thrown(read)?.code).toBe("released");
  });

  test("keeps a chunk that also has rows at or after `before`", () => {
    const message = students(8).toMessage();
    const [first, second] = message.chunks.map(({ data }) => data);
    const segments = [
      { data: first!, start: 0, rows: 2 },
      { data: second!, start: 0, rows: 4 },
      { data: first!, start: 2, rows: 2 },
    ];
    const table = Student.from({ "clearway:records": { ...message, chunks: segments } });
    table.release({ before: 6 });
    expect([0, 1, 6, 7].map((row) => table.at(row)?.rollNum)).toEqual([0, 1, 2, 3]);
    expect(thrown(() => table.at(2)?.rollNum)?.code).toBe("released");
    table.release({ before: 8 });
    expect(table.byteLength).toBe(0);
  });

  test("reads nothing of a chunk that is released while rows are read, and continues with the next chunk", () => {
    const table = students(10);
    const read: number[] = [];
    const refused: (string | undefined)[] = [];
    let rows = 0;
    for (const row of table) {
      if (rows++ === 1) table.release({ before: 4 });
      const error = thrown(() => read.push(row.rollNum));
      if (error) refused.push(error.code);
    }
    expect(read).toEqual([0, 4, 5, 6, 7, 8, 9]);
    expect(refused).toEqual(["released", "released", "released"]);
  });

  test.each(["rows", "cursors"] as const)("reads nothing more when it is released while it is read by %s", (by) => {
    const table = students(10);
    const read: number[] = [];
    const rows = { rows: () => table, cursors: () => table.cursors() };
    const error = thrown(() => {
      for (const each of rows[by]()) {
        const row = "at" in each ? each.at(1) : each;
        read.push(row.rollNum);
        if (row.rollNum !== 1) continue;
        table.release();
        read.push(row.rollNum);
      }
    });
    expect([error?.code, read]).toEqual(["released", by === "cursors" ? [1] : [0, 1]]);
  });

  test("has rows that throw `released` in every column after a release", () => {
    const table = everything(8, 8);
    const [row] = table;
    const columns = Object.keys(everyValue(0) as object);
    table.release();
    for (const name of columns) {
      // A struct reads as a row, whose columns are read only by `JSON.stringify`.
      const read = (): unknown => plain(JSON.parse(JSON.stringify((row as Record<string, unknown>)[name])));
      expect([name, thrown(read)?.code]).toEqual([name, "released"]);
    }
  });
});

test("two records with the same columns share one schema, so that readers see one class of row", () => {
  expect(structuredCloneOf(students(1)).schema).toBe(Student);
});

function structuredCloneOf(table: ReturnType<typeof students>) {
  return Student.from(structuredClone(table));
}

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

  test("rows that contain themselves throw invalid-argument that names the column, and so do rows of very many paths", () => {
    const row: Record<string, unknown> = { id: 1 };
    row["self"] = row;
    const wide = Array.from({ length: 30 }).reduce<object>((inner) => ({ a: inner, b: inner }), { x: 1 });
    for (const [rows, message] of [
      [[row], /^self\.self\..*nested deeper than 32/],
      [[wide], /^a\.a\..*more than 65536/],
    ] as const) {
      expect(thrown(() => inferRecord(rows))).toMatchObject({ code: "invalid-argument", message });
      expect(thrown(() => tableFromRows(rows))).toMatchObject({ code: "invalid-argument", message });
    }
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
