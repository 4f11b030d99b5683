// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the kept run of the published experiments, to which later runs add cells.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { experimentsMarkdown } from "../src/report/experiments/markdown.js";
import { readKept, withAdded } from "../src/run/kept.js";
import { clockStepUsOf, type RunRecord } from "../src/run/record.js";
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
      /^Run A, 2026-01-02: 12 of 12 .*A CPU.*\n\nRun B, added on 2026-02-03: 2 of 12 .*A CPU.* Of the scenarios students\.\n/,
    );
  });

  test("names a runtime that measured something, once if it runs two hosts", () => {
    const record = experimentRecord();
    const facts = record.hosts["node"]!;
    const hosts = {
      node: { ...facts, runtime: "Node v20" },
      flutter: { ...facts, runtime: "Dart 3; Node v20" },
      jvm: { ...facts, runtime: "OpenJDK" },
    };
    const cells = [...record.cells, { ...record.cells[0]!, host: "flutter" as const }];
    expect(experimentsMarkdown(experimentRecord({ hosts, cells }))).toMatch(/^Run A, [^\n]*; Node v20; Dart 3\.\n/);
  });

  test("marks the rows that another run measured than the rest of their table, and no others", () => {
    const page = experimentsMarkdown(withAdded(experimentRecord(), [later]));
    const marked = page.split("\n").filter((line) => /^\| .* \(run B\) \|/.test(line));
    expect(marked.length).toBeGreaterThan(0);
    expect(page).toContain("- compare only rows of one run, because each run had its own machine or its own day");
    const all = { ...later, cells: experimentRecord().cells };
    const whole = experimentsMarkdown(withAdded(experimentRecord(), [all]));
    expect(whole).not.toContain("(run B)");
    expect(whole).toContain("- all rows: run B; compare them only with tables of that run");
    expect(whole).toMatch(/rounds of run B\)/);
    const some = { ...later, cells: all.cells.filter(({ mechanism }) => mechanism === "worker-clone") };
    expect(experimentsMarkdown(withAdded(experimentRecord(), [some]))).toMatch(/rounds of runs A and B\)/);
    expect(experimentsMarkdown(experimentRecord())).not.toMatch(/rounds? of run|all rows:/);
  });

  test("shows a time below a step of the clock of the run that measured it", () => {
    const facts = { ...later.hosts["node"]!, clockStepUs: 0.2 };
    const record = withAdded(experimentRecord(), [{ ...later, hosts: { node: facts } }]);
    const [own, added] = ["comlink", "direct"].map(
      (mechanism) => record.cells.find((each) => each.mechanism === mechanism)!,
    );
    expect(clockStepUsOf(record, added!, "longestStall")).toBe(0.2);
    expect(clockStepUsOf(record, own!, "longestStall")).toBe(experimentRecord().hosts["node"]!.clockStepUs);
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
