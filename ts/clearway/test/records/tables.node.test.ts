// SPDX-License-Identifier: MIT OR Apache-2.0
import v8 from "node:v8";
import vm from "node:vm";
import { expect, test } from "vitest";
import { RowsBuilder } from "../../src/records/builder/rows.js";
import { bytes, date, f64, list, record, tableFrom, text, timestamp, u8, u32 } from "../../src/records.js";
import { plain } from "./students.js";

test("a released table's memory is free at once, without a garbage collection", () => {
  const Reading = record({ value: f64 });
  const writer = Reading.table({ rowsPerChunk: 1 << 20 });
  for (let row = 0; row < 1 << 20; row++) writer.push({ value: row });
  const table = writer.finish();
  const held = process.memoryUsage().arrayBuffers;
  table.release();
  expect(held - process.memoryUsage().arrayBuffers).toBeGreaterThanOrEqual(8 << 20);
});

// In Node 20.13 and later.
type QueryObjects = (type: abstract new (...args: never[]) => object, options: { format: "count" }) => number;
const { queryObjects } = v8 as unknown as { queryObjects?: QueryObjects };

test.runIf(queryObjects)(
  "a finished writer frees its scratch memory, even while the writer is still referenced",
  () => {
    const count = (): number => queryObjects?.(RowsBuilder, { format: "count" }) ?? 0;
    const before = count();
    const writer = record({ n: u32, name: text() }).table();
    writer.push({ n: 1, name: "a" });
    expect(count()).toBe(before + 1);
    const table = writer.finish();
    expect(count()).toBe(before);
    expect([writer.length, writer.finish() === table]).toEqual([1, true]);
  },
);

const foreign = vm.createContext({});
const made = (code: string): never => vm.runInContext(code, foreign) as never;

test("dates, bytes, lists and chunks of another realm are accepted", () => {
  const Mixed = record({ at: timestamp(), day: date, raw: bytes, tags: list(u8) });
  const row = {
    at: made("new Date(5)"),
    day: made("new Date(86400000)"),
    raw: made("new Uint8Array([1, 2])"),
    tags: made("new Uint8Array([3])"),
  };
  const table = Mixed.tableOf([row]);
  expect(plain(table.toObjects())).toEqual([{ at: 5, day: 1, raw: [1, 2], tags: [3] }]);
  const message = table.toMessage();
  const chunks = message.chunks.map((chunk) => {
    const data: ArrayBuffer = made(`new ArrayBuffer(${chunk.data.byteLength})`);
    new Uint8Array(data).set(new Uint8Array(chunk.data));
    return { ...chunk, data };
  });
  const read = tableFrom({ "clearway:records": { ...message, chunks } });
  expect(plain(read.toObjects())).toEqual(plain(table.toObjects()));
});

// Comes last, because the count of objects above would search its memory.
test("rows of megabytes make chunks of 256 MiB plus at most one row, each readable to its end", () => {
  const Blob = record({ raw: bytes });
  const raw = new Uint8Array(24 << 20);
  const writer = Blob.table();
  for (let row = 0; row < 14; row++) {
    raw[raw.length - 1] = row;
    writer.push({ raw });
  }
  const table = writer.finish();
  expect(table.toMessage().chunks.map(({ rows }) => rows)).toEqual([11, 3]);
  expect([...table].map((row) => row.raw.at(-1))).toEqual(Array.from({ length: 14 }, (_, at) => at));
});
