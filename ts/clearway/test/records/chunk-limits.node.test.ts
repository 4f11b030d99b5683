// SPDX-License-Identifier: MIT OR Apache-2.0
import { bytes, record } from "clearway/records";
import { expect, test } from "vitest";

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
