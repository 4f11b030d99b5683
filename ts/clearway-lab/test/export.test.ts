// SPDX-License-Identifier: MIT OR Apache-2.0
import { mkdirSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { jetpackReport } from "../src/export/jetpack.js";
import { markdownText } from "../src/export/markdown.js";
import { assertJetpack } from "../src/export/schema.js";
import type { RunRecord } from "../src/run/record.js";
import { resultsOf } from "../src/run/results.js";
import { encodeHistogram, histogramOf } from "../src/statistics/histogram.js";
import { BuiltCli } from "./built-cli.js";
import { offloadRecord } from "./offload-record.js";
import { record } from "./record.js";

/**
 * Returns a record with one cell of a stream. Its figures are invented and small enough to check by head. Its first round has the single samples 1000, 2000 and 3000 ns. The second round has only the
 * histogram of 1000 ns, counted twice, and 1,000,000 ns.
 */
function exportedRecord(more: Partial<RunRecord> = {}): RunRecord {
  const whole = record();
  const cell = whole.cells.find(({ mechanism }) => mechanism === "clearway-stream")!;
  const rounds = [
    { ns: [2000, 1000, 3000], raw: true },
    { ns: [1000, 1_000_000, 1000], raw: false },
  ].map(({ ns, raw }, round) => ({
    round,
    position: round,
    tookMs: 250,
    machineStallMs: 0.2,
    measurement: {
      samples: {
        latency: { unit: "us" as const, n: 3, hdr: encodeHistogram(histogramOf(ns)), ...(raw ? { raw: ns } : {}) },
      },
      values: { backlogMax: { unit: "events" as const, value: 4 + round } },
      result: null,
      notes: [],
    },
  }));
  const params = { perSecond: 60, payloadBytes: 8 };
  return { ...whole, cells: [{ ...cell, params, rounds }], ...more };
}

const report = jetpackReport(offloadRecord());
const [first] = report.benchmarks;

describe("Jetpack's Benchmark JSON", () => {
  test("has only the published fields, for every family with times", () => {
    expect(() => assertJetpack(report)).not.toThrow();
    const other = jetpackReport(record());
    expect(() => assertJetpack(other)).not.toThrow();
    expect(other.benchmarks.map(({ className, name }) => [className, name.split("[")[0]])).toContainEqual([
      "clearway.lab.node.push.stream",
      "clearway-stream",
    ]);
  });

  test("has every batch in nanoseconds, with its statistics", () => {
    expect(first?.metrics["timeNs"]?.runs).toHaveLength(9);
    expect(first?.metrics["timeNs"]).toMatchObject({ minimum: 3724, maximum: 4532, median: 4000 });
    // The runs are 4000 4400 3800 4120 4532 3914 3920 4312 3724. The figure is the sample's standard deviation / the mean.
    expect(first?.metrics["timeNs"]?.coefficientOfVariation).toBeCloseTo(0.069, 3);
    expect(first?.metrics["coldTimeNs"]?.runs).toHaveLength(3);
    expect(first?.metrics["allocationCount"]).toMatchObject({ median: 101, coefficientOfVariation: 0 });
    expect(first).toMatchObject({ warmupIterations: 12, repeatIterations: 1, totalRunTimeNs: 900_000_000 });
  });

  test("has the parameters as strings, in the name's brackets and as a field", () => {
    expect(first?.name).toBe("direct[work=arithmetic,waits=none,order=ascending,actions=100]");
    expect(first?.params).toEqual({ work: "arithmetic", waits: "none", order: "ascending", actions: "100" });
    expect(first?.className).toBe("clearway.lab.node.offload.works");
  });

  test("has one benchmark for each size of a sweep", () => {
    const sweep = report.benchmarks.filter(({ className }) => className === "clearway.lab.node.offload.sizes");
    expect(sweep.filter(({ name }) => name.startsWith("direct[")).map(({ params }) => params["size"])).toEqual([
      "10ns",
      "100ns",
      "1us",
      "10us",
      "100us",
      "1ms",
      "10ms",
      "100ms",
    ]);
  });

  test("leaves fields empty that only an Android device can fill", () => {
    expect(report.benchmarks.every(({ thermalThrottleSleepSeconds }) => thermalThrottleSleepSeconds === null)).toBe(
      true,
    );
    expect(report.benchmarks.every(({ profilerOutputs }) => profilerOutputs === null)).toBe(true);
    expect(report.context).toMatchObject({
      build: { brand: "", device: "", fingerprint: "", model: "A CPU", version: { sdk: 0 } },
      cpuLocked: false,
      cpuMaxFreqHz: -1,
      artMainlineVersion: -1,
      compilationMode: "",
      payload: { producer: "clearway-lab 0.1.0", os: "Linux 6, x64", "runtime.jvm": "OpenJDK 25" },
    });
  });

  test("takes many samples from their histogram, and the number of calls per sample", () => {
    const run = offloadRecord();
    const ns = Array.from({ length: 100 }, (_, at) => 1000 * (at + 1));
    const [cell] = run.cells;
    for (const { measurement } of cell?.rounds ?? [])
      measurement.samples["batchTimes"] = { unit: "ms", n: 100, hdr: encodeHistogram(histogramOf(ns)), batch: 32 };
    const [benchmark] = jetpackReport(run).benchmarks;
    expect(benchmark?.repeatIterations).toBe(32);
    expect(benchmark?.metrics["timeNs"]?.runs).toHaveLength(300);
    expect(Math.abs((benchmark?.metrics["timeNs"]?.median ?? 0) / 50_500 - 1)).toBeLessThan(0.002);
  });

  test("leaves out controls of A/A pairs, cells without a round, and values that are not times", () => {
    const run = offloadRecord();
    const [direct, piscina] = run.cells;
    run.cells = [direct, piscina].filter((cell) => cell !== undefined);
    if (direct !== undefined) direct.control = true;
    if (piscina !== undefined) piscina.rounds = [];
    expect(jetpackReport(run).benchmarks).toEqual([]);
  });

  test("is refused with the path of a field that departs from the format", () => {
    expect(() => assertJetpack({ ...report, extra: 1 })).toThrow("additional");
    const bare = { ...report, benchmarks: [{ ...first, metrics: {} }] };
    expect(() => assertJetpack(bare)).toThrow("/benchmarks/0/metrics");
    expect(() => assertJetpack({ ...report, benchmarks: [{ ...first, thermalThrottleSleepSeconds: "0" }] })).toThrow(
      "/benchmarks/0/thermalThrottleSleepSeconds",
    );
  });

  test("names the benchmarks whose runs come from a histogram", () => {
    const { context, benchmarks } = jetpackReport(exportedRecord());
    expect(JSON.parse(context.payload["runsFromHistogram"]!)).toEqual([
      "clearway.lab.node.push.stream.clearway-stream[perSecond=60,payloadBytes=8]",
    ]);
    // 1,000,000 ns is exact to a thousandth in the histogram. The raw samples keep their order.
    expect(benchmarks[0]?.metrics["timeNs"]?.runs).toEqual([2000, 1000, 3000, 1000, 1000, 1_000_447]);
    expect("runsFromHistogram" in jetpackReport(offloadRecord()).context.payload).toBe(false);
  });
});

describe("Markdown tables", () => {
  test("have every family, and the same figures without the record", () => {
    for (const run of [record(), offloadRecord(), exportedRecord()]) {
      const text = markdownText(resultsOf(run), run);
      expect(text).not.toMatch(/undefined|\bNaN\b|\[object/);
      expect(markdownText(resultsOf(run))).toBe(text.replace(/\n\n[^\n]*\?/g, ""));
    }
  });

  test("have a column for each figure and for each parameter that differs", () => {
    const run = exportedRecord();
    const [cell] = run.cells;
    run.cells.push({ ...cell!, params: { ...cell!.params, perSecond: 120 } });
    const text = markdownText(resultsOf(run), run);
    expect(text).toContain("## push: stream on node\n");
    expect(text).toContain("\nAll with payloadBytes 8.\n");
    expect(text).toContain(
      [
        "| mechanism | perSecond | backlogMax (events) | latency p50 (us) | latency p90 (us) | latency p99 (us) |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
        "| clearway-stream | 60 | 4.5 | (1) | (1000) | (1000) |",
        "| clearway-stream | 120 | 4.5 | (1) | (1000) | (1000) |",
      ].join("\n"),
    );
  });

  test("show text that is Markdown or HTML as it is", () => {
    const run = exportedRecord();
    run.cells[0]!.mechanism = "a|b <script>\n*c*";
    expect(markdownText(resultsOf(run), run)).toContain("| a\\|b \\<script\\> \\*c\\* |");
  });
});

describe("clearway export", () => {
  const cli = new BuiltCli();
  afterAll(() => cli.remove());
  const run = (name: string, files: Record<string, unknown>): string => {
    mkdirSync(cli.path(name));
    for (const [file, value] of Object.entries(files)) writeFileSync(cli.path(name, file), JSON.stringify(value));
    return name;
  };

  test("prints a run, and needs samples for jetpack", async () => {
    const whole = run("whole", { "record.json": exportedRecord() });
    const figures = run("figures", { "results.json": resultsOf(exportedRecord()) });
    expect(JSON.parse((await cli.run(["export", "jetpack", whole])).stdout)).toEqual(jetpackReport(exportedRecord()));
    const text = markdownText(resultsOf(exportedRecord()));
    expect(await cli.run(["export", "markdown", figures])).toEqual({ code: 0, stdout: text, stderr: "" });
    expect(await cli.run(["export", "jetpack", figures])).toEqual({
      code: 2,
      stdout: "",
      stderr: "error: jetpack needs samples, and figures/results.json has only figures\n",
    });
  });

  test("refuses what is no run, and a record whose histograms are damaged", async () => {
    const damaged = exportedRecord();
    Object.assign(damaged.cells[0]!.rounds[1]!.measurement.samples["latency"]!, { hdr: "no histogram" });
    const refused = [
      [run("damaged", { "record.json": damaged }), "damaged/record.json is not the record of a run"],
      [run("other", { "results.json": {} }), "other/results.json is not the record of a run"],
      [run("empty", {}), "empty has none of record.json"],
      ["none", "none does not exist"],
    ] as const;
    for (const [name, message] of refused) {
      const { code, stdout, stderr } = await cli.run(["export", "markdown", name]);
      expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(message)]);
    }
  });
});
