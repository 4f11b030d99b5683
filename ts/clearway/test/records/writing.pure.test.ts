// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { bytesOf, firstRows, Growth, grown } from "../../src/records/builder/builder.js";
import { RowBytes } from "../../src/records/builder/columns.js";
import { type ChunkLimits, TableWriter } from "../../src/records/writer.js";
import {
  bool,
  bytes,
  f64,
  i8,
  i64,
  list,
  nullable,
  record,
  struct,
  text,
  timestamp,
  u8,
  u32,
} from "../../src/records.js";
import fc, { cases } from "../fixtures/fast-check.js";
import { plain, Student, thrown } from "./students.js";

const Mixed = record({
  id: u32,
  small: nullable(i8),
  big: i64,
  name: text(),
  at: timestamp({ unit: "s" }),
  tags: list(u8),
  place: struct({ city: text({ dictionary: true }) }),
  home: struct({ city: nullable(text()) }),
});

const good = { id: 1, small: 1, big: 1n, name: "", at: 0, tags: [1], place: { city: "x" }, home: { city: "y" } };

describe("a writer", () => {
  test.each([
    ["id", { id: 1.5 }, "whole number from 0 to 4294967295: id=1.5"],
    ["id", { id: -1 }, "id=-1"],
    ["id", { id: "1" }, 'id="1"'],
    ["id", { id: undefined }, "Give every row a value, or declare the column nullable"],
    ["id", { id: Number.NaN }, "id=NaN"],
    ["id", { id: Symbol("s") }, "id=Symbol(s)"],
    ["small", { small: 128 }, "from -128 to 127: small=128"],
    ["big", { big: 1 }, "a bigint"],
    ["big", { big: 2n ** 63n }, "big=9223372036854775808n"],
    ["name", { name: 5 }, "a text: name=5"],
    ["at", { at: new Date(1500) }, "a whole number of s"],
    ["at", { at: new Date(Number.NaN) }, "Invalid Date"],
    ["tags[]", { tags: [1, 256] }, "tags[]=256"],
    ["tags", { tags: 5 }, "an array of u8"],
    ["place", { place: null }, "place must be an object"],
    ["home", { home: new Map([["city", "x"]]) }, "an object with properties: home=Map"],
    ["place.city", { place: { city: 1 } }, "place.city=1"],
  ])("names column, row and value when a value does not fit: %s of %o", (column, wrong, message) => {
    const writer = Mixed.table();
    writer.push(good);
    const error = thrown(() => writer.push({ ...good, ...wrong } as never));
    expect(error).toMatchObject({ code: "invalid-argument", column, row: 1 });
    expect(error?.message).toContain(message);
    expect(error?.message).toContain("row 1");
  });

  test("a detached typed array in a row throws invalid-argument with its column and row, and the writer goes on", () => {
    const gone = <T extends Uint8Array | Float64Array>(array: T): T => {
      structuredClone(array, { transfer: [array.buffer as ArrayBuffer] });
      return array;
    };
    const writer = record({ v: list(f64), small: list(u8), data: bytes }).table();
    const row = { v: [1], small: [2], data: new Uint8Array(1) };
    writer.push(row);
    for (const [column, wrong] of [
      ["v", new Float64Array([1, 2])],
      ["small", new Float64Array([1, 2])],
      ["data", new Uint8Array(2)],
    ] as const) {
      const error = thrown(() => writer.push({ ...row, [column]: gone(wrong) }));
      expect(error).toMatchObject({ code: "invalid-argument", column, row: 1 });
      expect(error?.message).toContain("whose memory was not moved");
    }
    writer.push({ v: new Float64Array(), small: new Uint8Array(), data: new Uint8Array() });
    const rows = writer.finish().toObjects();
    expect(rows.map(({ v, small, data }) => [v.length, small.length, data.length])).toEqual([
      [1, 1, 1],
      [0, 0, 0],
    ]);
  });

  test("leaves out the whole of a refused row, and keeps working", () => {
    const writer = Mixed.table({ rowsPerChunk: 3 });
    for (let at = 0; at < 10; at++) {
      writer.push({ ...good, id: at, small: at % 2 ? at : null, tags: [at] });
      for (const wrong of [{ name: 5 }, { place: {} }, { tags: [1, 2, 300] }, { small: 1000 }, null]) {
        expect(thrown(() => writer.push((wrong && { ...good, small: null, ...wrong }) as never))?.row).toBe(at + 1);
      }
    }
    const rows = writer.finish().toObjects();
    expect(rows.map(({ id, small, tags }) => [id, small, ...tags])).toEqual(
      Array.from({ length: 10 }, (_, at) => [at, at % 2 ? at : null, at]),
    );
  });

  test("accepts rows of any class, and rows without a prototype", () => {
    class Tagged {
      readonly rollNum = 2;
      readonly [Symbol.toStringTag] = "Tagged";
      get name() {
        return "b";
      }
    }
    const bare = Object.assign(Object.create(null), { rollNum: 1, name: "a" });
    const Nullable = record({ rollNum: nullable(u32), name: nullable(text()) });
    const table = Nullable.tableOf([bare, new Tagged(), { rollNum: 3, name: "c" }, bare]);
    expect(table.toObjects().map(({ rollNum, name }) => `${rollNum}${name}`)).toEqual(["1a", "2b", "3c", "1a"]);
  });

  test("writes rows of 20,000 columns", () => {
    const names = Array.from({ length: 20_000 }, (_, at) => `c${at}`);
    const rowOf = (first: number) => Object.fromEntries(names.map((name, at) => [name, (first + at) % 256]));
    const Wide = record(Object.fromEntries(names.map((name) => [name, u8])));
    expect(Wide.tableOf([rowOf(0), rowOf(1)]).toObjects()).toEqual([rowOf(0), rowOf(1)]);
  });

  test("accepts rows from any iterable, and keeps the rows before a bad one", () => {
    const writer = Student.table();
    function* rows() {
      yield { rollNum: 1, name: "a" };
      yield { rollNum: -1, name: "b" };
    }
    expect(thrown(() => writer.pushAll(rows()))?.row).toBe(1);
    expect(writer.length).toBe(1);
    expect(writer.finish().toObjects()).toEqual([{ rollNum: 1, name: "a" }]);
  });

  test("finishes once, and then refuses rows", () => {
    const writer = Student.table();
    writer.push({ rollNum: 1, name: "a" });
    expect(writer.finish()).toBe(writer.finish());
    expect(thrown(() => writer.push({ rollNum: 2, name: "b" }))?.message).toContain("finished");
  });

  test("keeps any text: empty, long and non-ASCII, with a lone surrogate as U+FFFD", () => {
    const Texts = record({ plain: text(), word: text({ dictionary: true }) });
    const texts = ["", "a", "\0", "é", "日本", "😀", "x".repeat(5000), "\uFEFFbom", `${"a".repeat(19)}é`, "\uD800"];
    const rows = Texts.tableOf(texts.map((each) => ({ plain: each, word: each }))).toObjects();
    const read = [...texts.slice(0, -1), "\uFFFD"];
    expect(rows).toEqual(read.map((each) => ({ plain: each, word: each })));
  });

  test("keeps a column of only nulls", () => {
    const Nulls = record({ word: nullable(text({ dictionary: true })), raw: nullable(bytes), on: nullable(bool) });
    const rows = Nulls.tableOf([{}, { word: null }, { raw: undefined }]).toObjects();
    expect(rows).toEqual(Array(3).fill({ word: null, raw: null, on: null }));
  });

  test("refuses a record without columns, and what is no type", () => {
    expect(thrown(() => record({}))?.code).toBe("invalid-argument");
    expect(thrown(() => record({ x: "u32" as never }))?.message).toContain('the column "x" must be a type');
    expect(thrown(() => list(nullable(u8) as never))?.message).toContain("not nullable");
  });

  test("keeps columns with the names of a cursor's own properties", () => {
    const Odd = record({ $row: u32, $0: u8, $enter: text(), $cannotBeSent: nullable(bool) });
    const rows = Array.from({ length: 9 }, (_, at) => ({ $row: at, $0: 9 - at, $enter: `${at}`, $cannotBeSent: null }));
    const table = Odd.tableOf(rows, { rowsPerChunk: 4 });
    expect(table.toObjects()).toEqual(rows);
    const read = Array.from(table, ({ $row, $0, $enter }) => ({ ...rows[0], $row, $0, $enter }));
    expect(read).toEqual(rows);
  });

  test("makes larger chunks from the second million of rows on, unless rowsPerChunk is set", () => {
    const Tiny = record({ n: u8 });
    const rows = (1 << 21) + 5;
    const chunksOf = (options?: { rowsPerChunk: number }): number[] => {
      const writer = Tiny.table(options);
      for (let row = 0; row < rows; row++) writer.push({ n: row & 255 });
      const table = writer.finish();
      expect([table.length, table.at(-1)?.n, table.at(1 << 20)?.n]).toEqual([rows, (rows - 1) & 255, 0]);
      return table.toMessage().chunks.map((chunk) => chunk.rows);
    };
    expect(chunksOf()).toEqual([...Array(16).fill(1 << 16), 1 << 20, 5]);
    expect(chunksOf({ rowsPerChunk: 1 << 19 })).toEqual([...Array(4).fill(1 << 19), 5]);
  });

  test("keeps columns with the names of a row's own methods", () => {
    const Odd = record({ toJSON: u8, constructor: u8, has: u8, length: u8, "": u8 });
    const row = { toJSON: 1, constructor: 2, has: 3, length: 4, "": 5 };
    const table = Odd.tableOf([row as never]);
    expect(table.toObjects()).toEqual([row]);
    expect([table.at(0)?.toJSON, table.at(0)?.[""]]).toEqual([1, 5]);
  });
});

// The real limits are 256 MiB to 4 GiB. Small limits exercise the same code.
const small: ChunkLimits = { closedBytes: 40_000, growthBytes: 4000, dataBytes: 60_000, blockBytes: 150_000 };
const writerOf = <R>(schema: R, limits = small, rowsPerChunk = 1000) =>
  new TableWriter(schema as never, { rowsPerChunk }, limits) as unknown as TableWriter;
const Large = record({
  raw: bytes,
  name: text(),
  word: nullable(text({ dictionary: true })),
  tags: list(f64),
  place: struct({ city: text(), at: timestamp(), flags: list(bool) }),
});
const mixed = (size: number) => ({
  raw: new Uint8Array(size).fill(size),
  name: "é".repeat(size >> 3),
  word: size % 2 ? `word ${size}` : null,
  tags: Array.from({ length: size >> 4 }, (_, at) => at),
  place: { city: "x".repeat(size >> 2), at: size, flags: Array(size >> 5).fill(true) },
});

describe("a writer of rows of very different sizes", () => {
  test("keeps every row, in chunks that exceed their closing size by at most one row", () => {
    const sizes = fc.array(fc.oneof({ weight: 9, arbitrary: fc.nat(3000) }, fc.nat(9000)), { maxLength: 80 });
    fc.assert(
      fc.property(sizes, (list) => {
        const writer = writerOf(Large);
        for (const size of list) writer.push(mixed(size) as never);
        const table = writer.finish();
        for (const { data } of table.toMessage().chunks) expect(data.byteLength).toBeLessThan(90_000);
        expect(plain(table.toObjects())).toEqual(plain(list.map(mixed)));
      }),
      { numRuns: cases(60) },
    );
  });

  test("closes a chunk of large texts after few rows, and a chunk of numbers by its size", () => {
    const Texts = record({ name: text() });
    const texts = writerOf(Texts);
    for (let row = 0; row < 20; row++) texts.push({ name: "x".repeat(10_000) } as never);
    expect(
      texts
        .finish()
        .toMessage()
        .chunks.map(({ rows }) => rows),
    ).toEqual([4, 4, 4, 4, 4]);
    const Times = record({ at: timestamp(), on: bool, word: text({ dictionary: true }) });
    const times = writerOf(Times, small, 1 << 20);
    for (let row = 0; row < 5000; row++) times.push({ at: row, on: true, word: "w" } as never);
    // A row takes slightly over 12 bytes. The writer checks the limit of 40,000 bytes every 256 rows.
    expect(times.finish().toMessage().chunks[0]?.rows).toBe(3329);
  });

  test("refuses a value beyond the range of offsets, at any column size, and keeps working", () => {
    const Raw = record({ raw: bytes });
    const writer = writerOf(Raw, { ...small, closedBytes: 1e9 });
    writer.push({ raw: new Uint8Array(40_000) } as never);
    // The column's room would double to more than this row needs, but offsets could not reach its end.
    const error = thrown(() => writer.push({ raw: new Uint8Array(20_001) } as never));
    expect(error).toMatchObject({ code: "invalid-argument", column: "raw", row: 1 });
    expect(error?.message).toBe(
      "row 1: raw must be small enough for 60000 bytes together with its chunk: raw=Uint8Array. Split the value over several rows.",
    );
    writer.push({ raw: new Uint8Array(20_000).fill(7) } as never);
    expect(writer.finish().at(1)).toMatchObject({ raw: new Uint8Array(20_000).fill(7) });
  });

  test("refuses a row that fits no chunk, and keeps working", () => {
    const Wide = record({ a: bytes, b: bytes, c: bytes });
    const writer = writerOf(Wide);
    writer.push({ a: new Uint8Array(1), b: new Uint8Array(1), c: new Uint8Array(1) } as never);
    const large = new Uint8Array(55_000);
    const error = thrown(() => writer.push({ a: large, b: large, c: large } as never));
    expect(error).toMatchObject({ code: "invalid-argument", row: 1 });
    expect(error?.message).toContain("small enough for 150000 bytes together with its chunk");
    writer.push({ a: large, b: large, c: new Uint8Array(2) } as never);
    expect(writer.finish().length).toBe(2);
  });

  test("leaves a row out when there is no memory for its chunk, and keeps working", () => {
    const Bytes = record({ n: u8 });
    const writer = Bytes.table({ rowsPerChunk: 3 });
    writer.push({ n: 1 });
    writer.push({ n: 2 });
    const real = globalThis.ArrayBuffer;
    globalThis.ArrayBuffer = class extends real {
      constructor() {
        super(0);
        throw new RangeError("Array buffer allocation failed");
      }
    } as never;
    try {
      expect(thrown(() => writer.push({ n: 3 }))).toBeInstanceOf(RangeError);
    } finally {
      globalThis.ArrayBuffer = real;
    }
    expect(writer.length).toBe(2);
    for (const n of [4, 5, 6]) writer.push({ n });
    expect(writer.finish().toObjects()).toEqual([1, 2, 4, 5, 6].map((n) => ({ n })));
  });
});

test("data never grows beyond the range of offsets", () => {
  const rowBytes = new RowBytes(new Growth(100_000));
  rowBytes.reserve(60_000, "raw", undefined);
  expect(rowBytes.reserve(99_999, "raw", undefined).length).toBe(100_000);
  expect(grown(Uint8Array, new Uint8Array(60), 61, 100).length).toBe(100);
  expect(bytesOf(new Int32Array(firstRows), 2).length).toBe(8);
});

test("a list has as many items as were read, even when its length changes meanwhile", () => {
  const Lists = record({ tags: list(u8) });
  const shrinking: unknown[] = [1, 2, 3, 4];
  Object.defineProperty(shrinking, 1, {
    get() {
      shrinking.length = 3;
      return 9;
    },
  });
  const rows = Lists.tableOf([{ tags: shrinking as number[] }, { tags: [5] }]).toObjects();
  expect(plain(rows)).toEqual([{ tags: [1, 9, 3] }, { tags: [5] }]);
});
