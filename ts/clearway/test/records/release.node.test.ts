// SPDX-License-Identifier: MIT OR Apache-2.0
import { f64, record } from "clearway/records";
import { expect, test } from "vitest";

test("a released table's memory is free at once, without a garbage collection", () => {
  const Reading = record({ value: f64 });
  const writer = Reading.table({ rowsPerChunk: 1 << 20 });
  for (let row = 0; row < 1 << 20; row++) writer.push({ value: row });
  const table = writer.finish();
  const held = process.memoryUsage().arrayBuffers;
  table.release();
  expect(held - process.memoryUsage().arrayBuffers).toBeGreaterThanOrEqual(8 << 20);
});
