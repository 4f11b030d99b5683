// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the kept run of the published experiments, to which later runs add cells.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { experimentsMarkdown } from "../src/report/experiments/markdown.js";
import { readKept, withAdded } from "../src/run/kept.js";
import type { RunRecord } from "../src/run/record.js";
import { experimentRecord } from "./experiment-record.js";
import { cell, measured } from "./record.js";

const rows = { rows: 1_000_000 };
const again = cell("students", "direct", rows, [measured({ longestStall: 7 })]);
const lacking = cell("students", "worker-json", rows, [measured({ longestStall: 9 })]);
const failed = cell("students", "comlink", rows, [], { failure: "it ended" });
const later = experimentRecord({ startedAt: "2026-02-03T00:00:00.000Z", cells: [again, lacking, failed], done: 2 });

const stalls = ({ cells }: RunRecord, mechanism: string) =>
  cells
    .filter((each) => each.mechanism === mechanism)
    .map(({ rounds }) => rounds.map(({ measurement }) => measurement.values["longestStall"]?.value));

describe("a kept run", () => {
  test("has the cells that a later run added, the later figures of a cell, and its own where the later run failed", () => {
    const whole = withAdded(experimentRecord(), [later]);
    expect(stalls(whole, "worker-json")).toEqual([[9]]);
    expect(stalls(whole, "direct")).toEqual([[7]]);
    expect(stalls(whole, "comlink")).toEqual([[5, 500, 5]]);
    expect(whole.startedAt).toBe("2026-01-02T03:04:05.000Z");
  });

  test("says why an added run could not measure a way that it lacks", () => {
    const missing = cell("students", "comlink", { rows: 2 }, [], { unavailable: "not on Linux" });
    const unplanned = cell("students", "direct", { rows: 2 }, []);
    const whole = withAdded(experimentRecord(), [{ ...later, cells: [missing, unplanned, failed] }]);
    expect(whole.cells.filter(({ params }) => params["rows"] === 2)).toEqual([missing]);
    expect(whole.cells.filter(({ failure }) => failure !== undefined)).toEqual([]);
  });

  test("names only the scenarios that an added run measured", () => {
    const unmeasured = cell("pool", "bare-worker", {}, [], { unavailable: "no room" });
    const run = { ...later, cells: [...later.cells, unmeasured] };
    expect(experimentsMarkdown(withAdded(experimentRecord(), [run]))).toContain(" Of the scenarios students.\n");
  });

  test("names every run with its date and machine on the page", () => {
    const page = experimentsMarkdown(withAdded(experimentRecord(), [later]));
    expect(page).toMatch(
      /^Run of 2026-01-02: 12 of 12 .*A CPU.*\n\nAdded on 2026-02-03: 2 of 12 .*A CPU.* Of the scenarios students\.\n/,
    );
  });

  test("names a runtime once that runs two hosts", () => {
    const facts = experimentRecord().hosts["node"]!;
    const hosts = { node: { ...facts, runtime: "Node v20" }, flutter: { ...facts, runtime: "Dart 3; Node v20" } };
    expect(experimentsMarkdown(experimentRecord({ hosts }))).toMatch(/^Run of [^\n]*; Node v20; Dart 3\.\n/);
  });

  test("marks the rows that another run measured than the rest of their table, and no others", () => {
    const page = experimentsMarkdown(withAdded(experimentRecord(), [later]));
    const marked = page.split("\n").filter((line) => line.startsWith("| ") && line.includes("†"));
    expect(marked.length).toBeGreaterThan(0);
    expect(page).toContain("compare only rows with this mark");
    const all = { ...later, cells: experimentRecord().cells };
    const whole = experimentsMarkdown(withAdded(experimentRecord(), [all]));
    expect(whole).not.toContain("†");
    expect(whole).toContain(
      "- all rows: measured by an added run, on its machine: compare them only with tables of the same run",
    );
    expect(whole).toMatch(/rounds of an added run\)/);
    const some = { ...later, cells: all.cells.filter(({ mechanism }) => mechanism === "worker-clone") };
    expect(experimentsMarkdown(withAdded(experimentRecord(), [some]))).toMatch(/rounds, partly of an added run\)/);
    expect(experimentsMarkdown(experimentRecord())).not.toMatch(/of an added run|all rows:/);
  });

  describe("in a folder", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "clearway-kept-"));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));
    const write = (name: string, run: RunRecord) =>
      writeFileSync(path.join(folder, name), gzipSync(JSON.stringify(run)));

    test("is read with the added runs, the later name last", () => {
      expect(() => readKept(folder)).toThrow(/there is no kept run: record\.json\.gz is not in/);
      const last = cell("students", "direct", rows, [measured({ longestStall: 8 })]);
      write("record.json.gz", experimentRecord());
      write("added-2.json.gz", { ...later, cells: [last] });
      write("added-1.json.gz", later);
      write("other.json.gz", { ...later, cells: [] });
      const whole = readKept(folder);
      expect(stalls(whole, "direct")).toEqual([[8]]);
      expect(whole.added).toHaveLength(2);
    });
  });
});
