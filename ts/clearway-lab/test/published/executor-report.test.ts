// SPDX-License-Identifier: MIT OR Apache-2.0
// The published experiment about executors as text, page and export, and the files that plan the JVM's published experiments.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { JSDOM } from "jsdom";
import { describe, expect, test } from "vitest";
import { selectScenarios } from "../../src/cli/select.js";
import { summary } from "../../src/cli/terminal.js";
import { readKeptRun } from "../../src/compare/kept-run.js";
import { jetpackReport } from "../../src/export/jetpack.js";
import { assertJetpack } from "../../src/export/schema.js";
import { executorFindings } from "../../src/published/executor-findings.js";
import { EXECUTOR_WAYS, EXECUTOR_WORKS } from "../../src/published/executors.js";
import { executorFindingLines } from "../../src/report/published/executor-text.js";
import { reportHtml } from "../../src/report/report.js";
import { resultsOf } from "../../src/run/results.js";
import { presentName } from "../../src/scenario/former-names.js";
import { loadScenarios } from "../../src/scenario/load.js";
import { AUTHORS, executorRecord, scenario } from "./executor-record.js";

const scenarios = loadScenarios();
const run = executorRecord(AUTHORS);
const results = resultsOf(run);

describe("the experiment on a terminal", () => {
  test.each([100, 80, 50])("has the table and a line for each finding within %i columns", (width) => {
    const text = summary(results, run, width);
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(width);
    expect(text).toContain("which executor, against the published findings");
    expect(text.match(/^- Agrees: /gm)).toHaveLength(6);
    // Shortened names stay different from each other.
    const nameWidth = width >= 80 ? 24 : 18;
    const rows = text.split("\n").filter((line) => /^\S.{17,} +[\d.]+$/.test(line) && !line.includes(":"));
    const names = new Set(rows.map((line) => line.slice(0, nameWidth)));
    if (width >= 80) expect(names.size).toBe(scenario.mechanisms.length);
  });

  test("has each finding once, with what was measured", () => {
    const text = executorFindingLines(run).join(" ");
    for (const { claim } of executorFindings(run)) expect(text.split(claim)).toHaveLength(2);
    expect(text).toMatch(
      /Agrees: On arithmetic, the plain loop is 70 times as fast.*arithmetic 7[\d.]+ \([67][\d.]+ to 7[\d.]+\), agrees/,
    );
    expect(text).not.toContain("is Default itself");
    const same = executorRecord((way, work, round) => AUTHORS(way.replace("-limited", ""), work, round));
    expect(executorFindingLines(same).join("\n")).toMatch(/^Differs: Dispatchers.Default.*is Default itself\.$/m);
    const nothing = executorFindingLines(executorRecord(() => undefined));
    expect(nothing.every((line) => line.startsWith("Not decided: ") && line.endsWith("did not measure it."))).toBe(
      true,
    );
  });
});

describe("the experiment on the page", () => {
  const { document } = new JSDOM(reportHtml(results, run)).window;
  const section = document.querySelector("#published-executors")!;

  test("has the heat map as inline SVG with every measured cell", () => {
    const svg = section.querySelector("svg.plot.wide")!;
    expect(svg.getAttribute("aria-label")).toMatch(/multiple of the fastest way's/);
    const texts = [...svg.querySelectorAll("text")].map(({ textContent }) => textContent);
    for (const work of EXECUTOR_WORKS) expect(texts).toContain(work);
    expect(texts).toContain("* RxJava single");
    const figures = texts.filter((text) => /^[\d.,k\u202f]+$/.test(text ?? ""));
    expect(figures).toHaveLength(run.cells.filter(({ control }) => !control).length);
  });

  test("has each finding and each comparison", () => {
    const said = [...section.querySelectorAll("li")].map(({ textContent }) => textContent);
    expect(said.filter((text) => text?.startsWith("Agrees: "))).toHaveLength(6);
    const rows = [...section.querySelectorAll("table")].find(({ textContent }) => textContent?.includes("interval"));
    expect(rows?.querySelectorAll("tbody tr")).toHaveLength(1 + 3 + 10 + 1 + 6 + 1);
  });

  test("has the full table with the smallest, the median and the largest time", () => {
    expect(section.textContent).toContain("100 (88.2 to 153, 15 runs)");
  });
});

describe("the experiment as Jetpack's JSON", () => {
  const report = jetpackReport(run);

  test("has a benchmark for each way and work, with minimum, median, maximum and every run", () => {
    expect(() => assertJetpack(report)).not.toThrow();
    expect(report.benchmarks).toHaveLength(run.cells.filter(({ control }) => !control).length);
    const found = report.benchmarks.find(({ name }) => name.startsWith("direct[work=network"))!;
    expect(found.className).toBe("clearway.lab.jvm.offload.published-executors");
    expect(found.metrics["timeNs"]?.runs).toHaveLength(15);
    expect(found.metrics["timeNs"]).toMatchObject({ minimum: 88_200_000, maximum: 153_000_000 });
    expect(found.warmupIterations).toBe(4);
  });

  test("has the counted allocations, and none for a cell that was not counted", () => {
    expect(report.benchmarks.every(({ metrics }) => metrics["allocationCount"]?.median === 700)).toBe(true);
    const uncounted = jetpackReport({
      ...run,
      cells: run.cells.map((cell) => ({ ...cell, rounds: cell.rounds.slice(1) })),
    });
    expect(uncounted.benchmarks.every(({ metrics }) => !("allocationCount" in metrics))).toBe(true);
    expect(report.benchmarks.every(({ metrics }) => !("coldTimeNs" in metrics))).toBe(true);
  });
});

interface Plan {
  measures: {
    scenario: string;
    rounds: number;
    sets: { mechanisms?: string[]; estimateMs: number; params: object }[];
  }[];
  tables: { scenario: string }[];
}

describe("the plans of the published experiments on the JVM", () => {
  const plan = (name: string) =>
    JSON.parse(readFileSync(new URL(`../../scenarios/published/${name}.json`, import.meta.url), "utf8")) as Plan;

  test.each([
    ["5-executors", 12],
    ["3-stream-jvm", 7],
  ])("%s names known scenarios and mechanisms, and takes at most %i minutes", (name, minutes) => {
    let ms = 0;
    const { measures, tables } = plan(name);
    for (const { scenario, rounds, sets } of measures) {
      const found = scenarios.find((each) => each.name === scenario)!;
      const known = found.mechanisms.map((each) => each.name);
      for (const { mechanisms = known, estimateMs } of sets) {
        expect(known).toEqual(expect.arrayContaining(mechanisms));
        ms += mechanisms.length * rounds * estimateMs;
      }
    }
    expect(measures.map(({ scenario }) => scenario)).toEqual(
      expect.arrayContaining(tables.map(({ scenario }) => scenario)),
    );
    expect(ms / 60_000).toBeLessThanOrEqual(minutes);
  });

  test("have every published way with every work, and every published mechanism with its load", () => {
    const [executors] = plan("5-executors").measures;
    for (const work of EXECUTOR_WORKS) {
      const sets = executors!.sets.filter(({ params }) => (params as { work: string }).work === work);
      const ways = sets.flatMap(({ mechanisms }) => mechanisms ?? EXECUTOR_WAYS.map(({ name }) => name));
      expect(ways).toEqual(expect.arrayContaining(EXECUTOR_WAYS.map(({ name }) => name)));
    }
    const [stream, firehose] = plan("3-stream-jvm").measures;
    const marked = scenarios
      .find(({ name }) => name === "published-stream-jvm")!
      .mechanisms.filter(({ published }) => published)
      .map(({ name }) => name);
    expect(stream!.sets[0]).toMatchObject({ params: { perSecond: 60, count: 2000 }, mechanisms: marked });
    expect(firehose!.sets[0]).toMatchObject({ params: { perSecond: 0, count: 1_000_000 } });
  });
});

describe("mechanisms that were renamed", () => {
  test("are selected by their former names", () => {
    const [works] = selectScenarios(scenarios, ["works/rxjava-io"]);
    expect(works?.mechanisms.map(({ name }) => name)).toEqual(["direct", "rxjava-flatmap-io"]);
    const [published] = selectScenarios(scenarios, ["published-executors/rxjava-io"]);
    expect(published?.mechanisms.map(({ name }) => name)).toContain("rxjava-io");
  });

  test("have their present names when a kept run is read", ({ onTestFinished }) => {
    expect(readKeptRunOf("works", "fixed-100", onTestFinished)).toBe("fixed-100-invokeall");
    expect(readKeptRunOf("published-executors", "fixed-100", onTestFinished)).toBe("fixed-100");
    expect(readKeptRunOf("works", "constructor", onTestFinished)).toBe("constructor");
  });

  test("no present name is a former one, and every one is a mechanism of works", () => {
    const works = scenarios.find(({ name }) => name === "works")!.mechanisms.map(({ name }) => name);
    for (const name of works) expect(presentName("works", name)).toBe(name);
    for (const former of ["flow", "flow-limited", "coroutines-blocking", "work-stealing-100", "rxjava-single"])
      expect(works).toContain(presentName("sizes", former));
  });
});

function readKeptRunOf(scenario: string, mechanism: string, finished: (remove: () => void) => void): string {
  const folder = mkdtempSync(path.join(tmpdir(), "clearway-former-"));
  finished(() => rmSync(folder, { recursive: true, force: true }));
  const [first] = run.cells;
  const file = path.join(folder, "record.json");
  writeFileSync(file, JSON.stringify({ ...run, cells: [{ ...first, scenario, mechanism }] }));
  return readKeptRun(file).record.cells[0]!.mechanism;
}
