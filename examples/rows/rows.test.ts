// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { outputOf } from "../output-of.js";
import { Students } from "./students.js";
import tasks from "./students.tasks.js";

test("a million rows arrive whole, without a byte copied", async () => {
  const output = await outputOf("./rows/main.js");
  expect(output.slice(0, 4)).toEqual([
    "rows: 1000000",
    "first: { rollNum: 1, name: 'Asha' }",
    "last: { rollNum: 1000000, name: 'Asha' }",
    "copied bytes: 0",
  ]);
  expect(output[4]).toMatch(/^longest stall of the main thread: [\d.]+ ms in \d+ ms$/);
});

test("the view gives every name back, also those beyond ASCII", () => {
  const rows = [...new Students(tasks.students(9))];
  expect(rows.map((row) => row.name)).toEqual([
    "Asha",
    "Björn",
    "Chidi",
    "Dilara",
    "Émile",
    "José",
    "Zoë",
    "Asha",
    "Björn",
  ]);
  expect(rows.map((row) => row.rollNum)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
});
