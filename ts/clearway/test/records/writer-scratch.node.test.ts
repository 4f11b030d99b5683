// SPDX-License-Identifier: MIT OR Apache-2.0
import v8 from "node:v8";
import { expect, test } from "vitest";
import { RowsBuilder } from "../../src/records/builder/rows.js";
import { record, text, u32 } from "../../src/records.js";

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
