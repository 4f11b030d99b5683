// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { outputOf } from "../output-of.js";
import tasks from "./students.tasks.js";

test("a million students arrive as a table, without a byte copied, and are scanned", async () => {
  const output = await outputOf("./records/main.js");
  expect(output.slice(0, -1)).toEqual([
    "rows: 1000000",
    'last: {"rollNum":1000000,"name":"Asha"}',
    "called Zoë: 142857",
    "sum: 500000500000",
    "a page: [ { rollNum: 501, name: 'Dilara' }, { rollNum: 502, name: 'Émile' } ]",
    "copied bytes: 0",
  ]);
  expect(output.at(-1)).toMatch(/^longest stall of the main thread: [\d.]+ ms in \d+ ms$/);
});

test("the task is an ordinary function, whose writer finishes as a table", () => {
  expect(tasks.students(9).finish().column("rollNum").toArray()).toEqual(Uint32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9));
});

test("four million rows come as a stream of tables, each of which is read and released", async () => {
  const output = await outputOf("./records/parts.js");
  expect(output.slice(0, 2)).toEqual(["rows: 4000000", "sum: 510000000"]);
  expect(output[2]).toMatch(/^memory of the process: at most \d+ MiB$/);
  expect(output[3]).toMatch(/^longest stall of the main thread: [\d.]+ ms in \d+ ms$/);
});
