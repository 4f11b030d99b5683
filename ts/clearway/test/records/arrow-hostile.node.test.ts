// SPDX-License-Identifier: MIT OR Apache-2.0
import * as arrow from "apache-arrow";
import { ClearwayError } from "clearway";
import { tableFromArrow } from "clearway/records";
import { describe, expect, test } from "vitest";
import { pieces } from "../../src/records/arrow/arrow.js";
import { shapesFrom } from "../../src/records/arrow/types.js";
import fc, { cases } from "../fixtures/fast-check.js";
import { decoded, everything } from "./students.js";

type Props = { type: arrow.DataType; length?: number } & Record<string, unknown>;
const make = arrow.makeData as unknown as (props: Props) => arrow.Data;

/** Returns an Arrow table of one column with the given data, one batch per part. */
function tableOf(...data: arrow.Data[]): arrow.Table {
  const [{ type, length }] = data as [arrow.Data];
  const schema = new arrow.Schema([new arrow.Field("c", type, true)]);
  const rows = (child: arrow.Data) =>
    make({ type: new arrow.Struct(schema.fields), length, nullCount: 0, children: [child] });
  return new arrow.Table(
    schema,
    data.map((each) => new arrow.RecordBatch(schema, rows(each) as never)),
  );
}
const reasonOf = (table: unknown) =>
  tableFromArrow(table as arrow.Table).then(
    () => undefined,
    (reason) => reason,
  );
const views = (...each: [size: number, buffer: number, offset: number][]): Uint8Array =>
  new Uint8Array(Int32Array.from(each.flatMap(([size, buffer, offset]) => [size, 0, buffer, offset])).buffer);
const list = (type: arrow.DataType) => new arrow.List(new arrow.Field("item", type, false));
const codes = (data: Int32Array | BigInt64Array, type: arrow.DataType, entries: arrow.Data) =>
  make({ type: new arrow.Dictionary(new arrow.Utf8(), type as never), data, dictionary: new arrow.Vector([entries]) });
const words = make({
  type: new arrow.Utf8(),
  length: 2,
  valueOffsets: Int32Array.of(0, 1, 2),
  data: new Uint8Array(2),
});

describe("an Arrow table that holds less than it announces is refused before memory is allocated for it:", () => {
  const rows = 2 ** 40;
  test.each<[string, () => unknown]>([
    [
      "numbers for fewer rows",
      () => tableOf(make({ type: new arrow.Float64(), length: rows, data: new Float64Array(2) })),
    ],
    ["bits for fewer rows", () => tableOf(make({ type: new arrow.Bool(), length: rows, data: new Uint8Array(2) }))],
    ["dates for fewer rows", () => tableOf(make({ type: new arrow.DateDay(), length: rows, data: new Int32Array(2) }))],
    [
      "offsets for fewer rows",
      () => tableOf(make({ type: new arrow.Utf8(), length: rows, valueOffsets: new Int32Array(2) })),
    ],
    [
      "views for fewer rows",
      () => tableOf(make({ type: new arrow.Utf8View(), length: rows, views: views([1, 0, 0]) })),
    ],
    [
      "codes for fewer rows",
      () => tableOf(make({ ...codes(new Int32Array(1), new arrow.Int32(), words), length: rows } as never)),
    ],
    [
      "lists for fewer rows",
      () =>
        tableOf(
          make({
            type: list(new arrow.Int8()),
            length: rows,
            valueOffsets: new Int32Array(2),
            child: make({ type: new arrow.Int8(), data: new Int8Array(2) }),
          }),
        ),
    ],
    [
      "nulls for fewer rows",
      () =>
        tableOf(
          make({
            type: new arrow.Int8(),
            length: 100,
            nullCount: 5,
            nullBitmap: new Uint8Array(2),
            data: new Int8Array(100),
          }),
        ),
    ],
    [
      "a dictionary for fewer entries",
      () =>
        tableOf(
          codes(
            Int32Array.of(0),
            new arrow.Int32(),
            make({ type: new arrow.Utf8(), length: rows, valueOffsets: new Int32Array(3), data: new Uint8Array(2) }),
          ),
        ),
    ],
    [
      "offsets that go back",
      () => tableOf(make({ type: new arrow.Utf8(), valueOffsets: Int32Array.of(0, 2, 1), data: new Uint8Array(2) })),
    ],
    [
      "offsets beyond the data",
      () => tableOf(make({ type: new arrow.Utf8(), valueOffsets: Int32Array.of(0, 9), data: new Uint8Array(2) })),
    ],
    [
      "offsets below 0",
      () => tableOf(make({ type: new arrow.Binary(), valueOffsets: Int32Array.of(-1, 2), data: new Uint8Array(2) })),
    ],
    [
      "64-bit offsets beyond everything",
      () =>
        tableOf(
          make({ type: new arrow.LargeUtf8(), valueOffsets: BigInt64Array.of(0n, 2n ** 62n), data: new Uint8Array(2) }),
        ),
    ],
    [
      "lists beyond their items",
      () => tableOf(make({ type: list(new arrow.Utf8()), valueOffsets: Int32Array.of(0, 9), child: words })),
    ],
    [
      "a view of a buffer that is not there",
      () =>
        tableOf(make({ type: new arrow.Utf8View(), views: views([20, 1, 0]), variadicBuffers: [new Uint8Array(20)] })),
    ],
    [
      "a view beyond its buffer",
      () =>
        tableOf(make({ type: new arrow.Utf8View(), views: views([20, 0, 1]), variadicBuffers: [new Uint8Array(20)] })),
    ],
    ["a view of less than nothing", () => tableOf(make({ type: new arrow.Utf8View(), views: views([-1, 0, 0]) }))],
  ])("%s", async (_, table) => {
    expect((await reasonOf(table()))?.code).toMatch(/^(protocol|invalid-argument)$/);
  });

  test.each([undefined, null, 5, {}, { schema: {} }, { schema: { fields: [] } }])(
    "a value that is not an Arrow table: %j",
    async (value) => {
      const error = await reasonOf(value);
      expect(error).toMatchObject({ code: "invalid-argument" });
      expect(error.message).toContain("table must be a Table of the package apache-arrow");
    },
  );

  test("64-bit codes that are not in the dictionary, when they are read", async () => {
    const table = await tableFromArrow(tableOf(codes(BigInt64Array.of(1n, 2n ** 32n), new arrow.Int64(), words)));
    expect(table.at(0)?.["c"]).toBe("\0");
    expect(() => table.at(1)?.["c"]).toThrow("code -1 is not in its dictionary");
  });
});

test("text views are refused when their values exceed 64 bytes per byte of shared text", async () => {
  // 40,000 times 1 MiB would be 40 GB.
  const shared = new Uint8Array(1 << 20);
  const many = Array.from({ length: 40_000 }, (): [number, number, number] => [1 << 20, 0, 0]);
  const error = await reasonOf(
    tableOf(make({ type: new arrow.Utf8View(), views: views(...many), variadicBuffers: [shared] })),
  );
  expect(error).toMatchObject({ code: "invalid-argument" });
  expect(error.message).toContain("make it a dictionary");
});

test("a record batch that is larger than a chunk is split, with every row in its place", () => {
  const texts = Array.from({ length: 100 }, (_, at) => "x".repeat(at * 10));
  const [batch] = new arrow.Table({ c: arrow.vectorFromArray(texts, new arrow.LargeUtf8()) }).batches;
  const shapes = shapesFrom(arrow as never, batch!.schema.fields);
  const parts = pieces(shapes, batch!, 10_000);
  expect(parts.length).toBeGreaterThan(5);
  expect(parts.flatMap((part) => [...(part.getChild("c") ?? [])])).toEqual(texts);
  for (const part of parts) expect(part.numRows === 1 || part.toArray().join("").length < 10_000).toBe(true);
});

test("an Arrow table with any changed memory is refused, or its values stay proportional to its bytes", async () => {
  const theirs = await everything(60, 30).toArrow();
  const stream = arrow.tableToIPC(theirs, "stream");
  const changes = fc.array(fc.record({ column: fc.nat(40), buffer: fc.nat(3), at: fc.nat(300), byte: fc.nat(255) }), {
    minLength: 1,
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(changes, async (list) => {
      const table = arrow.tableFromIPC(stream.slice());
      for (const { column, buffer, at, byte } of list) {
        for (const batch of table.batches) {
          const data = batch.data.children[column % batch.data.children.length]!;
          const parts = (each: arrow.Data | undefined) =>
            (each?.buffers ?? []) as unknown as (Uint8Array | undefined)[];
          const view = parts(data)[buffer] ?? parts(data.children[0])[buffer];
          if (view) new Uint8Array(view.buffer, view.byteOffset, view.byteLength)[at % (view.byteLength || 1)] = byte;
        }
      }
      const read = await tableFromArrow(table).catch((reason) => {
        if (reason.code !== "protocol" && reason.code !== "invalid-argument") throw reason;
      });
      if (!read) return;
      expect(read.byteLength).toBeLessThan(stream.length * 2);
      expect(decoded(read)).toBeLessThan(stream.length * 16);
    }),
    { numRuns: cases(100) },
  );
});

test.each<[string, (table: arrow.Table) => object]>([
  ["a batch without data", ({ schema }) => ({ schema, batches: [{ numRows: 1, data: undefined }] })],
  ["a batch without anything", ({ schema }) => ({ schema, batches: [undefined] })],
  [
    "a batch whose rows are no number",
    ({ schema, batches }) => ({ schema, batches: [{ ...batches[0], numRows: -1 }] }),
  ],
  ["a field without a type", ({ batches }) => ({ schema: { fields: [{ name: "c" }] }, batches })],
  ["a field that is null", ({ batches }) => ({ schema: { fields: [null] }, batches })],
])("an object that only looks like an Arrow table is refused with a typed error: %s", async (_, change) => {
  const whole = tableOf(make({ type: new arrow.Float64(), length: 2, data: new Float64Array(2) }));
  const reason = await reasonOf(change(whole));
  expect(reason).toBeInstanceOf(ClearwayError);
  expect((reason as ClearwayError).code).toMatch(/^(protocol|invalid-argument)$/);
});
