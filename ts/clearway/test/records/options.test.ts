// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { struct, text, timestamp, u32 } from "../../src/records/field.js";
import { inferRecord, tableFromRows } from "../../src/records/infer.js";
import { record, tableFrom, tableFromArrow } from "../../src/records/record.js";
import { optionSuite, refusalOf, refusalSuite } from "../fixtures/option-suite.js";

const Point = record({ x: u32 });
const rows = [{ x: 1 }];
const perChunk = [
  ["rowsPerChunk must be a whole number from 1 to 1073741824: rowsPerChunk=0", { rowsPerChunk: 0 }],
  ['rowsPerChunk="5"', { rowsPerChunk: "5" }],
] as const;
const sample = [
  ["sampleRows must be a whole number, 1 or more: sampleRows=0", { sampleRows: 0 }],
  ["sampleRows=null", { sampleRows: null }],
] as const;

optionSuite({
  name: "tableFromRows",
  act: (options) => void tableFromRows(rows, options as never),
  typo: ["sampleRow", "sampleRows"],
  option: "rowsPerChunk",
  bad: [...perChunk, ...sample],
});

optionSuite({
  name: "inferRecord",
  act: (options) => void inferRecord(rows, options as never),
  typo: ["samples", "sampleRows"],
  option: "sampleRows",
  bad: sample,
});

optionSuite({
  name: "a record's table",
  act: (options) => void Point.table(options as never),
  typo: ["rowPerChunk", "rowsPerChunk"],
  option: "rowsPerChunk",
  bad: perChunk,
});

optionSuite({
  name: "a record's tableOf",
  act: (options) => void Point.tableOf(rows, options as never),
  typo: ["rowPerChunk", "rowsPerChunk"],
  option: "rowsPerChunk",
  bad: perChunk,
});

optionSuite({
  name: "toObjects",
  act: (options) => void Point.tableOf(rows).toObjects(options as never),
  typo: ["rowMax", "rowsMax"],
  option: "from",
  bad: [
    ['from must be a number: from="1"', { from: "1" }],
    ["to=null", { to: null }],
    ["rowsMax=NaN", { rowsMax: Number.NaN }],
    ['rowsMax must be a number: rowsMax="9"', { rowsMax: "9" }],
  ],
});

optionSuite({
  name: "a table's release",
  act: (options) => Point.tableOf(rows).release(options as never),
  typo: ["befor", "before"],
  option: "before",
  bad: [
    ['before must be a number: before="1"', { before: "1" }],
    ["before=NaN", { before: Number.NaN }],
  ],
});

optionSuite({
  name: "text",
  act: (options) => void text(options as never),
  typo: ["dict", "dictionary"],
  option: "dictionary",
  bad: [["dictionary must be of type boolean: dictionary=1", { dictionary: 1 }]],
});

optionSuite({
  name: "timestamp",
  act: (options) => void timestamp(options as never),
  typo: ["units", "unit"],
  option: "unit",
  bad: [['unit must be one of s, ms, us, ns: unit="m"', { unit: "m" }]],
});

refusalSuite("an argument of records that is not an option", [
  ["fields must be an object: fields=[object]", () => record([u32] as never)],
  ["fields must be an object: fields=undefined", () => record(undefined as never)],
  ["fields must be an object: fields=null", () => struct(null as never)],
  ['the column "x" must be a type such as u32', () => record({ x: 5 as never })],
  ["rows must be an array: rows=5", () => tableFromRows(5 as never)],
  ["rows must be iterable: rows=5", () => Point.tableOf(5 as never)],
]);

test.each([null, undefined, 5, [], {}])("a value that is no table is refused with a typed error: %s", async (value) => {
  expect((await refusalOf(() => tableFrom(value))).code).toBe("protocol");
});

test.each([null, undefined, 5, [], {}])("tableFromArrow refuses what is no Arrow table: %s", async (value) => {
  const { code, message } = await refusalOf(() => tableFromArrow(value as never));
  // In a browser the package cannot be loaded by its name.
  if (code !== "missing-package") {
    expect(code).toBe("invalid-argument");
    expect(message).toContain("table must be a Table of the package apache-arrow: table=");
  }
});
