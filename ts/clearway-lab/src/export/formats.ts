// SPDX-License-Identifier: MIT OR Apache-2.0
// The formats of `clearway export`.
import { bmfReport } from "./bmf.js";
import { hgrmFiles, hlogFile } from "./hdr.js";
import { jetpackReport } from "./jetpack.js";
import { jmhResults } from "./jmh.js";
import { markdownText } from "./markdown.js";
import { openMetricsText } from "./openmetrics.js";
import { assertJetpack } from "./schema.js";
import { type Exported, type ExportSource, measuredCells, recordOf } from "./source.js";

export interface ExportFormat {
  title: string;
  /** What `count` counts. */
  counted: [one: string, many: string];
  /** The name of the file in the run's folder, or of the folder if the format makes several files. */
  target: string;
  /** Whether the format makes several files. */
  several?: true;
  /** Converts a run. Throws SamplesGoneError if the format needs samples that are not kept. */
  convert(source: ExportSource): Exported;
}

const one = (name: string, text: string, count: number): Exported => ({ files: [{ name, text }], count, leftOut: [] });
const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
const benchmarks: [string, string] = ["benchmark", "benchmarks"];

export const FORMATS = {
  jetpack: {
    title: "Benchmark JSON of Android's Jetpack Benchmark",
    counted: benchmarks,
    // Tools that read this format find their files by the end of this name.
    target: "clearway-benchmarkData.json",
    convert(source) {
      const report = jetpackReport(recordOf(source, "jetpack"));
      assertJetpack(report);
      return one(this.target, json(report), report.benchmarks.length);
    },
  },
  jmh: {
    title: "JSON of JMH",
    counted: benchmarks,
    target: "clearway-jmh.json",
    convert(source) {
      const results = jmhResults(recordOf(source, "jmh"));
      return one(this.target, json(results), results.length);
    },
  },
  bmf: {
    title: "Bencher Metric Format",
    counted: benchmarks,
    target: "clearway-bmf.json",
    convert(source) {
      const report = bmfReport(source);
      return one(this.target, json(report), Object.keys(report).length);
    },
  },
  hgrm: {
    title: "percentile distributions of HdrHistogram, one file each",
    counted: ["distribution", "distributions"],
    target: "hgrm",
    several: true,
    convert: (source) => hgrmFiles(recordOf(source, "hgrm")),
  },
  hlog: {
    title: "interval log of HdrHistogram",
    counted: ["interval", "intervals"],
    target: "clearway.hlog",
    convert: (source) => hlogFile(recordOf(source, "hlog")),
  },
  openmetrics: {
    title: "OpenMetrics text",
    counted: ["cell", "cells"],
    target: "clearway.openmetrics.txt",
    convert(source) {
      return one(this.target, openMetricsText(source), measuredCells(source.results).length);
    },
  },
  markdown: {
    title: "Markdown tables",
    counted: ["cell", "cells"],
    target: "clearway.md",
    convert(source) {
      return one(this.target, markdownText(source), measuredCells(source.results).length);
    },
  },
} satisfies Record<string, ExportFormat>;

export type FormatName = keyof typeof FORMATS;
export const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[];
