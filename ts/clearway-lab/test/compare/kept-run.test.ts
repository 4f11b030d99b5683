// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the reading of kept runs: missing, truncated, foreign, huge and malformed files.
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { compareKeptRuns } from "../../src/compare/compare-kept-runs.js";
import { FILE_BYTES_MAX, KeptRunError, readKeptRun } from "../../src/compare/kept-run.js";
import { resultsOf } from "../../src/run/results.js";
import { encodeHistogram, histogramOf } from "../../src/statistics/histogram.js";
import { record } from "../record.js";

const scratch = mkdtempSync(path.join(tmpdir(), "clearway-kept-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

let folders = 0;
/** Writes a folder with these files, and returns its path. */
function folder(files: Record<string, unknown>): string {
  const at = path.join(scratch, String(++folders));
  mkdirSync(at);
  for (const [name, content] of Object.entries(files))
    writeFileSync(path.join(at, name), typeof content === "string" ? content : JSON.stringify(content));
  return at;
}

function problemOf(source: string): { field: string; message: string } {
  try {
    readKeptRun(source);
  } catch (error) {
    expect(error).toBeInstanceOf(KeptRunError);
    const { field, message } = error as KeptRunError;
    return { field, message };
  }
  throw new Error("it was read");
}

/** Returns a copy of the record in which `change` has changed the parsed JSON. */
function changed(change: (parsed: Record<string, never>) => unknown): unknown {
  const parsed = JSON.parse(JSON.stringify(record())) as Record<string, never>;
  return change(parsed) ?? parsed;
}

describe("a kept run", () => {
  test("is read from its folder, its record.json, or its results.json", () => {
    const at = folder({ "record.json": record(), "results.json": resultsOf(record()) });
    for (const source of [at, path.join(at, "record.json"), path.join(at, "results.json")])
      expect(readKeptRun(source).record.seed).toBe(7);
    expect(readKeptRun(folder({ "record.json": record() })).record.cells).toHaveLength(8);
    const named = path.join(folder({ "before.json": record() }), "before.json");
    expect(readKeptRun(named).file).toBe(named);
  });

  test.each<[string, () => string, string]>([
    ["that does not exist", () => path.join(scratch, "nowhere"), "does not exist: name the folder"],
    ["of an empty folder", () => folder({}), "record.json: it does not exist, and without the rounds"],
    [
      "of results alone",
      () => path.join(folder({ "results.json": resultsOf(record()) }), "results.json"),
      "without the rounds",
    ],
    ["that is empty", () => folder({ "record.json": "" }), "it is not JSON"],
    ["that is truncated", () => folder({ "record.json": JSON.stringify(record()).slice(0, 3000) }), "it is truncated"],
    ["that is binary", () => folder({ "record.json": "\u0000\u0001\u0002" }), "it is not JSON"],
    [
      "of another run than its results",
      () => folder({ "record.json": record({ seed: 8 }), "results.json": resultsOf(record()) }),
      "is of another run",
    ],
    ["with malformed results", () => folder({ "record.json": record(), "results.json": "{}" }), "not a results file"],
  ])("%s is refused, and the message says what to do", (_, make, message) => {
    expect(problemOf(make()).message).toContain(message);
  });

  test("that is a folder inside is refused", () => {
    const at = folder({});
    mkdirSync(path.join(at, "record.json"));
    expect(problemOf(at).message).toContain("it is not a file");
  });

  test("that is huge is refused before it is read", () => {
    const at = folder({ "record.json": "" });
    truncateSync(path.join(at, "record.json"), FILE_BYTES_MAX + 1);
    expect(problemOf(at).message).toContain(`limit=${FILE_BYTES_MAX}`);
  });

  const firstValue = "/cells/0/rounds/0/measurement/values/longestStall";
  const firstSample = "/cells/4/rounds/0/measurement/samples/latency";
  /** Sets the field at a JSON pointer. */
  const set = (pointer: string, value: unknown) =>
    changed((parsed) => {
      const keys = pointer.split("/").slice(1);
      const last = keys.pop()!;
      let found: Record<string, never> = parsed;
      for (const key of keys) found = found[key] as never;
      (found as Record<string, unknown>)[last] = value;
    });

  test.each<[string, unknown]>([
    ["/", null],
    ["/", []],
    ["/", "text"],
    ["/", {}],
  ])("that is no record is refused: field %s of %j", (field, content) => {
    expect(problemOf(folder({ "record.json": JSON.stringify(content) })).field).toBe(field);
  });

  test.each<[string, unknown]>([
    ["/version", 2],
    ["/run", {}],
    ["/seed", -1],
    ["/startedAt", 5],
    ["/machine/cores", "two"],
    ["/build/node", null],
    ["/cells", {}],
    ["/cells/0", null],
    ["/cells/0/role", "friend"],
    ["/cells/0/params/rows", null],
    ["/cells/0/rounds/0/round", 1.5],
    [`${firstValue}/value`, null],
    [`${firstValue}/value`, "NaN"],
    [`${firstSample}/n`, 0],
    [`${firstSample}/unit`, "h"],
    [`${firstSample}/hdr`, ""],
    [`${firstSample}/hdr`, "A".repeat(200_000)],
    [`${firstSample}/batch`, 0],
  ])("with a malformed field is refused, and the error names it: %s", (field, value) => {
    const problem = problemOf(folder({ "record.json": set(field, value) }));
    expect(problem.field).toBe(field);
    expect(problem.message).toContain(field);
    expect(problem.message.length).toBeLessThan(400);
  });

  test("with the same cell or round twice is refused", () => {
    const twice = changed((parsed) => {
      const cells = parsed["cells"] as unknown as unknown[];
      cells.push(cells[0]);
    });
    expect(problemOf(folder({ "record.json": twice }))).toMatchObject({ field: "/cells/8" });
    expect(problemOf(folder({ "record.json": set("/cells/0/rounds/1/round", 0) }))).toMatchObject({
      field: "/cells/0/rounds/1/round",
    });
  });

  test.each<[string, string, unknown]>([
    ["is no histogram", "hdr", "bm90IGEgaGlzdG9ncmFt"],
    ["is not base64", "hdr", "!!!!"],
    ["is truncated", "hdr", encodeHistogram(histogramOf([1, 2, 3])).slice(0, 20)],
    ["has another number of samples", "n", 999],
  ])("with a histogram that %s fails the comparison with the field's name", (_, field, value) => {
    const broken = readKeptRun(folder({ "record.json": set(`${firstSample}/${field}`, value) }));
    const whole = readKeptRun(folder({ "record.json": record() }));
    for (const [a, b] of [
      [broken, whole],
      [whole, broken],
    ] as const) {
      try {
        compareKeptRuns(a, b);
        throw new Error("it was compared");
      } catch (error) {
        expect(error).toBeInstanceOf(KeptRunError);
        expect((error as KeptRunError).field).toBe(`${firstSample}/${field}`);
      }
    }
  });
});
