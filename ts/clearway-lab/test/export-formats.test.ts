// SPDX-License-Identifier: MIT OR Apache-2.0
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { decodeFromCompressedBase64, HistogramLogReader, listTags } from "hdr-histogram-js";
import { describe, expect, test } from "vitest";
import { bmfReport } from "../src/export/bmf.js";
import { FORMAT_NAMES, FORMATS } from "../src/export/formats.js";
import { hgrmFiles, hlogFile } from "../src/export/hdr.js";
import { jetpackReport } from "../src/export/jetpack.js";
import { jmhResults } from "../src/export/jmh.js";
import { markdownText } from "../src/export/markdown.js";
import { openMetricsText } from "../src/export/openmetrics.js";
import { SamplesGoneError } from "../src/export/source.js";
import { encodeHistogram, histogramOf } from "../src/statistics/histogram.js";
import { exportedRecord, fromFigures, fromRecord } from "./exported.js";
import { offloadRecord } from "./offload-record.js";
import { record } from "./record.js";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const cellName = "node/stream/clearway-stream[perSecond=60,payloadBytes=8]";

describe("an export of a run of which only the figures are kept", () => {
  test.each(["jetpack", "jmh", "hgrm", "hlog"] as const)(
    "throws a typed error that names the next step: %s",
    (name) => {
      const source = fromFigures(exportedRecord());
      expect(() => FORMATS[name].convert(source)).toThrow(SamplesGoneError);
      expect(() => FORMATS[name].convert(source)).toThrow(
        `${name} needs the samples of a run, and run/results.json has only figures computed from them. ` +
          "Export the run's record.json, or use bmf, openmetrics or markdown",
      );
    },
  );

  test.each(["openmetrics", "markdown"] as const)("has the same figures as one with samples: %s", (name) => {
    const withSamples = FORMATS[name].convert(fromRecord(exportedRecord())).files[0]!.text;
    const figures = FORMATS[name].convert(fromFigures(exportedRecord())).files[0]!.text;
    const question = /\n\n[^\n]*\?/g;
    expect(figures).toBe(withSamples.replace(question, ""));
  });
});

describe("every format", () => {
  test.each(FORMAT_NAMES)("converts every family: %s", (name) => {
    for (const run of [record(), offloadRecord(), exportedRecord()]) {
      const { files, count } = FORMATS[name].convert(fromRecord(run));
      expect(count).toBeGreaterThan(0);
      for (const { text } of files) expect(text).not.toMatch(/undefined|\bNaN\b(?!")|\[object/);
    }
  });
});

describe("Jetpack's Benchmark JSON", () => {
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

describe("JMH's JSON", () => {
  test("has samples as values with their counts, of one fork per round", () => {
    const [result] = jmhResults(exportedRecord());
    expect(result).toMatchObject({
      benchmark: "clearway.lab.node.push.stream.clearway-stream",
      mode: "sample",
      forks: 2,
      vmName: "Node v20",
      params: { perSecond: "60", payloadBytes: "8" },
    });
    const { primaryMetric, secondaryMetrics } = result!;
    expect(primaryMetric.rawData).toBeUndefined();
    expect(primaryMetric.rawDataHistogram).toEqual([
      [
        [
          [2000, 1],
          [1000, 1],
          [3000, 1],
        ],
      ],
      [
        [
          [1000, 2],
          [1_000_447, 1],
        ],
      ],
    ]);
    expect(primaryMetric.score).toBeCloseTo((2000 + 1000 + 3000 + 2000 + 1_000_447) / 6, 6);
    expect(primaryMetric.scorePercentiles).toMatchObject({ "0.0": 1000, "50.0": 1500, "100.0": 1_000_447 });
    expect(Object.keys(primaryMetric.scorePercentiles)).toEqual([
      "0.0",
      "50.0",
      "90.0",
      "95.0",
      "99.0",
      "99.9",
      "99.99",
      "99.999",
      "99.9999",
      "100.0",
    ]);
    expect(secondaryMetrics["backlogMax"]).toMatchObject({ score: 4.5, scoreUnit: "events", rawData: [[4], [5]] });
    // JMH, too, has no interval for two values.
    expect(secondaryMetrics["backlogMax"]).toMatchObject({ scoreError: "NaN", scoreConfidence: ["NaN", "NaN"] });
  });

  test("has one value per round, with the interval that JMH computes, where a cell has no samples", () => {
    const students = jmhResults(record()).find(({ benchmark }) => benchmark.endsWith("worker-clone"))!;
    expect(students).toMatchObject({ mode: "avgt", forks: 3, warmupIterations: 0 });
    const { primaryMetric } = students;
    expect(primaryMetric).toMatchObject({ scoreUnit: "ns/op", rawData: [[500e6], [520e6], [480e6]], score: 500e6 });
    // The deviation is 20 ms, t for 99.9 % and 2 degrees of freedom is 31.599.
    expect((primaryMetric.scoreError as number) / ((31.599 * 20e6) / Math.sqrt(3))).toBeCloseTo(1, 5);
  });

  test("has a rate as throughput", () => {
    const run = exportedRecord();
    run.cells[0]!.scenario = "firehose";
    run.scenarios = [{ ...run.scenarios[0]!, name: "firehose", compare: "throughput" }];
    for (const { measurement } of run.cells[0]!.rounds)
      measurement.values["throughput"] = { unit: "events/s", value: 5 };
    expect(jmhResults(run)[0]).toMatchObject({ mode: "thrpt", primaryMetric: { score: 5, scoreUnit: "ops/s" } });
  });
});

describe("Bencher Metric Format", () => {
  test("has times in nanoseconds, with the lowest and the highest round as bounds", () => {
    expect(bmfReport(fromRecord(record()))["node/students/worker-clone[rows=1000000]"]).toEqual({
      "longest-stall": { value: 500e6, lower_value: 480e6, upper_value: 520e6 },
      "total-runtime": { value: 1000e6, lower_value: 960e6, upper_value: 1040e6 },
    });
  });

  test("has a distribution's median, and its p99 only where the samples support that", () => {
    const few = bmfReport(fromRecord(exportedRecord()))[cellName]!;
    expect(few).toEqual({
      latency: { value: 1000, lower_value: 1000, upper_value: 2000 },
      "backlog-max": { value: 4.5, lower_value: 4, upper_value: 5 },
    });
    const run = exportedRecord();
    const ns = Array.from({ length: 2000 }, (_, at) => at + 1);
    for (const { measurement } of run.cells[0]!.rounds)
      measurement.samples["latency"] = { unit: "us", n: 2000, hdr: encodeHistogram(histogramOf(ns)) };
    expect(bmfReport(fromRecord(run))[cellName]).toMatchObject({
      "latency-p99": { value: 1980, lower_value: 1980, upper_value: 1980 },
    });
  });

  test("has no bounds where only the figures of the run are kept", () => {
    expect(bmfReport(fromFigures(exportedRecord()))[cellName]).toEqual({
      latency: { value: 1000 },
      "backlog-max": { value: 4.5 },
    });
  });
});

describe("HdrHistogram's interval log", () => {
  const { files, count } = hlogFile(exportedRecord());
  const { text } = files[0]!;

  test("is read by HdrHistogram for JavaScript: every round, with its values and its time", () => {
    const tag = `${cellName.replace(",", ";")}.latency`;
    expect(listTags(text)).toEqual([tag]);
    const reader = new HistogramLogReader(text, 64);
    const start = Date.parse("2026-01-02T03:04:05.000Z");
    const first = reader.nextIntervalHistogram()!;
    // 3001 is the largest value that the histogram cannot distinguish from 3000.
    expect([first.tag, first.totalCount, first.maxValue]).toEqual([tag, 3, 3001]);
    expect([first.startTimeStampMsec, first.endTimeStampMsec]).toEqual([start, start + 250]);
    const second = reader.nextIntervalHistogram()!;
    expect([second.totalCount, second.getValueAtPercentile(50)]).toEqual([3, 1000]);
    expect(second.startTimeStampMsec).toBe(start + 250);
    expect(reader.nextIntervalHistogram()).toBeNull();
    expect(count).toBe(2);
  });

  test("has the recorded histograms unchanged", () => {
    const hdrs = exportedRecord().cells[0]!.rounds.map(({ measurement }) => measurement.samples["latency"]!.hdr);
    const written = text.split("\n").filter((line) => line.startsWith("Tag="));
    expect(written.map((line) => line.split(",").at(-1))).toEqual(hdrs);
    expect(decodeFromCompressedBase64(hdrs[0]!, 64).totalCount).toBe(3);
  });

  test("is the log that the JVM's HdrHistogram reads in its own test", () => {
    expect(text).toBe(readFileSync(here("../../../jvm/lab/src/test/resources/clearway.hlog"), "utf8"));
  });

  test("names the cells without samples as left out", () => {
    const { leftOut } = hlogFile(record());
    expect(leftOut).toContainEqual({
      cell: "node/students/direct[rows=1000000]",
      why: "because a round has one value and no samples",
    });
    expect(leftOut.some(({ cell }) => cell.startsWith("node/stream"))).toBe(false);
  });
});

describe("HdrHistogram's percentile distributions", () => {
  test("have the samples of all rounds, in milliseconds, in the columns that plotters read", () => {
    const { files } = hgrmFiles(exportedRecord());
    expect(files.map(({ name }) => name)).toEqual([
      "node_stream_clearway-stream_perSecond=60_payloadBytes=8_.latency.hgrm",
    ]);
    const lines = files[0]!.text.split("\n");
    expect(lines[0]!.trim().split(/\s+/)).toEqual(["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]);
    const rows = lines.filter((line) => /^\s+\d/.test(line)).map((line) => line.trim().split(/\s+/).map(Number));
    expect(rows[0]).toEqual([0.001, 0, 3, 1]);
    expect(rows.at(-1)!.slice(0, 3)).toEqual([1, 1, 6]);
    expect(files[0]!.text).toMatch(/#\[Max +=[^\]]+Total count +=\s+6\]/);
  });

  test("have names that no two cells share, on any file system", () => {
    const run = exportedRecord();
    const [cell] = run.cells;
    run.cells = ["a/b", "a_b", "A:B", `${"x".repeat(300)}1`, `${"x".repeat(300)}2`].map((mechanism) => ({
      ...cell!,
      mechanism,
    }));
    const names = hgrmFiles(run).files.map(({ name }) => name.toLowerCase());
    expect(new Set(names).size).toBe(5);
    for (const name of names) expect(name).toMatch(/^[a-z0-9._=-]{1,255}$/);
  });
});

describe("OpenMetrics text", () => {
  /** Returns the families of a text as the Python client library of Prometheus reads them. */
  function parsed(text: string): Record<string, { type: string; unit: string; samples: [string, unknown, number][] }> {
    // Installed by `scripts/setup.sh python`, which `make test` runs first.
    const python = here("../../../.cache/python/bin/python3");
    if (!existsSync(python)) throw new Error("there is no Python with prometheus-client: run scripts/setup.sh python");
    const { stdout, stderr, status } = spawnSync(python, [here("./read_openmetrics.py")], {
      input: text,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  }

  test("is read by Prometheus's client library, in base units", () => {
    const families = parsed(openMetricsText(fromRecord(exportedRecord())));
    const labels = {
      host: "node",
      family: "push",
      scenario: "stream",
      mechanism: "clearway-stream",
      param_per_second: "60",
      param_payload_bytes: "8",
    };
    // Six samples support no quantile.
    expect(families["clearway_lab_latency_seconds"]).toEqual({
      type: "summary",
      unit: "seconds",
      samples: [
        ["clearway_lab_latency_seconds_count", labels, 6],
        ["clearway_lab_latency_seconds_sum", labels, expect.closeTo(0.001008, 5)],
      ],
    });
    expect(families["clearway_lab_backlog_max_median"]).toEqual({
      type: "gauge",
      unit: "",
      samples: [["clearway_lab_backlog_max_median", labels, 4.5]],
    });
    expect(families["clearway_lab_run"]?.samples[0]).toMatchObject(["clearway_lab_run_info", { profile: "quick" }, 1]);
  });

  test("has the quantiles that the samples support, and the ratio of a percentage", () => {
    const run = exportedRecord();
    const ns = Array.from({ length: 2000 }, (_, at) => at + 1);
    for (const { measurement } of run.cells[0]!.rounds) {
      measurement.samples["latency"] = { unit: "us", n: 2000, hdr: encodeHistogram(histogramOf(ns)) };
      measurement.values["onOneCore"] = { unit: "%", value: 50 };
    }
    const families = parsed(openMetricsText(fromRecord(run)));
    const quantiles = families["clearway_lab_latency_seconds"]!.samples.flatMap(([, labels]) =>
      "quantile" in (labels as object) ? [(labels as { quantile: string }).quantile] : [],
    );
    expect(quantiles).toEqual(["0.01", "0.1", "0.5", "0.9", "0.99"]);
    expect(families["clearway_lab_on_one_core_median_ratio"]!.samples[0]![2]).toBe(0.5);
  });

  test("keeps quotes, backslashes, line breaks and every script in labels", () => {
    const run = exportedRecord();
    const odd = 'say "hi" \\ twice\nthen 日本 🙂 }';
    run.cells[0]!.mechanism = odd;
    const families = parsed(openMetricsText(fromRecord(run)));
    expect(families["clearway_lab_backlog_max_median"]!.samples[0]![1]).toMatchObject({ mechanism: odd });
  });
});

describe("Markdown tables", () => {
  test("have a column for each figure and for each parameter that differs", () => {
    const run = exportedRecord();
    const [cell] = run.cells;
    run.cells.push({ ...cell!, params: { ...cell!.params, perSecond: 120 } });
    const text = markdownText(fromRecord(run));
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
    expect(markdownText(fromRecord(run))).toContain("| a\\|b \\<script\\> \\*c\\* |");
  });
});
