// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { bytesOf, firstRows, Growth, grown } from "../../src/records/builder/builder.js";
import { RowBytes } from "../../src/records/builder/columns.js";
import { type ChunkLimits, TableWriter } from "../../src/records/writer.js";
import { bool, bytes, f64, list, nullable, record, struct, text, timestamp, u8 } from "../../src/records.js";
import fc, { cases } from "../fixtures/fast-check.js";
import { plain, thrown } from "./students.js";

// The real limits are 256 MiB to 4 GiB. Small limits exercise the same code.
const small: ChunkLimits = { closedBytes: 40_000, growthBytes: 4000, dataBytes: 60_000, blockBytes: 150_000 };
const writerOf = <R>(schema: R, limits = small, rowsPerChunk = 1000) =>
  new TableWriter(schema as never, { rowsPerChunk }, limits) as unknown as TableWriter;
const Mixed = record({
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
        const writer = writerOf(Mixed);
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
