// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests what the pages of the published experiments make of a kept run: present names, whole frames, rows that could not be measured, charts
// of pairs, and the heat map.
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { linesSvg } from "../../src/report/experiments/charts.js";
import { executorFindingText, findingLines, findingText } from "../../src/report/experiments/findings-text.js";
import { heatSvg } from "../../src/report/experiments/heat.js";
import {
  experimentCharts,
  experimentsMarkdown,
  withPresentExperiments,
} from "../../src/report/experiments/markdown.js";
import { tableView } from "../../src/report/experiments/view.js";
import { executorFindings } from "../../src/run/executors.js";
import { testFinding } from "../../src/run/findings.js";
import { readKept } from "../../src/run/kept.js";
import { type RecordedCell, type RunRecord, resultsOf } from "../../src/run/record.js";
import { EXPERIMENT, experimentRecord, figure, finding } from "../experiment-record.js";
import { cell, measured } from "../record.js";
import { AUTHORS, executorRecord, type Times } from "./executor-record.js";

const rows = { rows: 1_000_000 };
const texts = (svg: string) => [...svg.matchAll(/<text[^>]*>([^<]*)/g)].map(([, text]) => text);

describe("the kept run", () => {
  const record = withPresentExperiments(
    readKept(fileURLToPath(new URL("../../../../lab/records/published", import.meta.url))),
  );

  test("measured every finding", () => {
    const lines = record.experiments!.flatMap((experiment) => findingLines(experiment, record));
    expect(lines.filter(({ outcome }) => outcome === "not measured").map(({ text }) => text)).toEqual([]);
  });
});

describe("the cells of a kept run", () => {
  const present = { calls: 1000, warmUpMs: 1000, idleCalls: 20, idleMs: 10 };
  const old = cell("pool", "comlink", { connection: "none", ...present }, [measured({ coldStart: 5 })]);
  const later = cell("pool", "comlink", present, [measured({ coldStart: 7 })]);
  const starts = (cells: RecordedCell[]) =>
    withPresentExperiments(experimentRecord({ cells })).cells.map(({ title, params, rounds }) => ({
      title,
      params,
      ms: rounds.map(({ measurement }) => measurement.values["coldStart"]?.value),
    }));

  test("have the present titles, and only the parameters that their scenario still has", () => {
    expect(starts([{ ...old, title: "an older title" }])).toEqual([{ title: "Comlink", params: present, ms: [5] }]);
  });

  test("are one cell if they differ in nothing else: the later one with figures", () => {
    expect(starts([old, later])).toEqual([{ title: "Comlink", params: present, ms: [7] }]);
    expect(starts([old, { ...later, rounds: [] }])).toEqual([{ title: "Comlink", params: present, ms: [5] }]);
  });
});

describe("frames", () => {
  const frames = (...counts: number[]): RunRecord => {
    const rounds = counts.map((value) => ({
      ...measured({}),
      values: { droppedFrames60: { unit: "frames" as const, value } },
    }));
    return experimentRecord({ cells: [cell("students", "direct", rows, rounds)] });
  };

  test("are whole: the median of 45 and 46 is shown as 46, in a table and in a finding", () => {
    const record = frames(45, 46);
    const table = { ...EXPERIMENT.tables[0]!, authors: [], order: "droppedFrames60" };
    const columns = [{ label: "dropped", metric: "droppedFrames60", unit: "frames" }];
    expect(tableView(resultsOf(record), record, { ...table, columns }).rows[0]!.cells).toEqual(["46"]);
    const tested = testFinding(record, finding({ subject: figure("direct", { metric: "droppedFrames60" }), max: 100 }));
    expect(findingText(tested)).toMatch("here: 46 frames (45 to 46 in 2 rounds) in Node");
  });
});

describe("a table", () => {
  test("keeps rows without figures if no row has any", () => {
    const missing = cell("students", "direct", rows, [], { unavailable: "no runner" });
    const record = experimentRecord({ cells: [missing] });
    const { rows: own, notes } = tableView(resultsOf(record), record, { ...EXPERIMENT.tables[0]!, authors: [] });
    expect(own.map(({ cells }) => cells)).toEqual([["–", "–"]]);
    expect(notes).toEqual(["created on the main thread: no runner"]);
  });
});

describe("a chart of lines in pairs", () => {
  const points = [4096, 8192].map((bytes) => ({ bytes, us: 1 }));
  const svg = linesSvg(
    "Builds",
    "size",
    [
      { title: "release", points, colour: 1 },
      { title: "debug", points, colour: 1, isDashed: true },
    ],
    [
      { title: "L2", bytes: 8192 },
      { title: "L3", bytes: 1 << 20 },
    ],
  );

  test("has one colour for both lines of a pair, and the second one dashed", () => {
    const lines = [...svg.matchAll(/<path d="M[^"]*L[^"]*" stroke="(#\w+)" stroke-width="2" fill="none"([^/]*)\/>/g)];
    expect(lines.map(([, stroke, more]) => [stroke, more!.trim()])).toEqual([
      ["#0969da", ""],
      ["#0969da", 'stroke-dasharray="5 3"'],
    ]);
  });

  test("marks no cache that is larger than the largest size", () => {
    expect(texts(svg)).toContain("L2");
    expect(texts(svg)).not.toContain("L3");
  });
});

describe("a heat map", () => {
  const one = (title: string, number: number) => ({
    title,
    clearway: title === "Clearway",
    number,
    text: `${number} ms`,
  });
  const svg = heatSvg("Executors", "times the fastest", [
    { title: "lists", cells: [one("Flow", 100), one("a <pool>", 1), one("Clearway", 10)] },
    { title: "storage", cells: [one("Flow", 5), one("a <pool>", 5)] },
  ]);

  test("has the ways of each column in the order of their times", () => {
    expect(texts(svg).slice(0, 12)).toEqual([
      ...["lists", "a &lt;pool&gt;", "1 ms", "Clearway", "10 ms", "Flow", "100 ms"],
      ...["storage", "Flow", "5 ms", "a &lt;pool&gt;", "5 ms"],
    ]);
  });

  test("is white for the fastest of a column, and darkest for the way that is most times slower", () => {
    const fills = [...svg.matchAll(/<rect x="\d+" y="\d+" width="\d+" height="28" fill="([^"]*)"/g)].map(
      ([, fill]) => fill,
    );
    expect(fills).toEqual([
      "rgb(255,255,255)",
      "rgb(250,210,193)",
      "rgb(244,165,130)",
      "rgb(255,255,255)",
      "rgb(255,255,255)",
    ]);
  });

  test("is drawn for the published ways and Clearway's, and named on the page", () => {
    const [table] = EXPERIMENT.tables;
    const chart = { file: "5-heat.svg", axis: "times the fastest", isHeat: true as const };
    const record = executorRecord(AUTHORS);
    const median = {
      ...table!,
      ...{ title: "Median", scenario: "published-executors", host: "jvm" as const, params: {}, authors: [], chart },
      ...{ by: "work", metric: "batch", unit: "ms", columns: undefined as never, order: undefined as never },
    };
    const run = { ...record, experiments: [{ ...EXPERIMENT, findings: [], tables: [median] }] };
    expect(experimentsMarkdown(run)).toContain("![Median, JVM](5-heat.svg)");
    const titles = texts(experimentCharts(run)[0]!.svg);
    expect(titles).toEqual(expect.arrayContaining(["arithmetic", "none", "Flow IO", "Clearway adaptive"]));
    expect(titles).not.toContain("virtual threads");
  });
});

describe("the text of a finding about executors", () => {
  const textOf = (name: string, times: Times) =>
    executorFindingText(executorFindings(executorRecord(times)).find((each) => each.name === name)!);

  test("names both ways of each ratio", () => {
    expect(textOf("coroutines-before-rxjava", AUTHORS)).toMatch(
      /^On one thread, .*\. Here, the time of one way \/ that of another; above 1 agrees: arithmetic, RxJava single \/ coroutines 1\.4 \(/,
    );
  });

  test("has a sentence for each outcome if its parts have several", () => {
    const text = textOf("coroutines-before-rxjava", (way, work, round) =>
      way === "rxjava-single" && work === "lists" ? 0.3 : AUTHORS(way, work, round),
    );
    expect(text).toMatch(
      /above 1 agrees\. Agrees: arithmetic, [^;.]*1\.4 \([^)]*\)\. Differs: lists, RxJava single \/ coroutines 0\.43 \([^)]*\)\. The cause is not known\.$/,
    );
  });
});
