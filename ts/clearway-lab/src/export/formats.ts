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
  /** Returns whether a file that begins with `head` is an earlier export, which `text` may replace. */
  isOwn(head: string, text: string): boolean;
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
    isOwn: (head) => /^\{\s*"context":[\s\S]*"producer": "clearway-lab /.test(head),
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
    // JMH itself always names a JVM.
    isOwn: (head) => /^\[\s*\{\s*"jmhVersion":[^{}]*"jvm": "",\s*"jvmArgs": \[\],\s*"jdkVersion": ""/.test(head),
    convert(source) {
      const results = jmhResults(recordOf(source, "jmh"));
      return one(this.target, json(results), results.length);
    },
  },
  bmf: {
    title: "Bencher Metric Format",
    counted: benchmarks,
    target: "clearway-bmf.json",
    // The format has no place for the name of a tool. The file is an earlier export if its first benchmark is one of the new ones.
    isOwn(head, text) {
      const [, first] = /^\{\s*("[^"\n]+": \{)/.exec(head) ?? [];
      return first !== undefined && text.includes(first);
    },
    convert(source) {
      const report = bmfReport(source);
      return one(this.target, json(report), Object.keys(report).length);
    },
  },
  hgrm: {
    title: "percentile distributions of HdrHistogram, one file each",
    counted: ["distribution", "distributions"],
    target: "hgrm",
    isOwn: (head) => /^\s*Value\s+Percentile\s+TotalCount\s/.test(head),
    several: true,
    convert: (source) => hgrmFiles(recordOf(source, "hgrm")),
  },
  hlog: {
    title: "interval log of HdrHistogram",
    counted: ["interval", "intervals"],
    target: "clearway.hlog",
    isOwn: (head) =>
      head.startsWith("#[Histogram log format") && head.includes("\n#[Values are nanoseconds. The starts are computed"),
    convert: (source) => hlogFile(recordOf(source, "hlog")),
  },
  openmetrics: {
    title: "OpenMetrics text",
    counted: ["cell", "cells"],
    target: "clearway.openmetrics.txt",
    isOwn: (head) => head.startsWith("# TYPE clearway_lab_"),
    convert(source) {
      return one(this.target, openMetricsText(source), measuredCells(source.results).length);
    },
  },
  markdown: {
    title: "Markdown tables",
    counted: ["cell", "cells"],
    target: "clearway.md",
    isOwn: (head) => head.startsWith("# Clearway lab\n"),
    convert(source) {
      return one(this.target, markdownText(source), measuredCells(source.results).length);
    },
  },
} satisfies Record<string, ExportFormat>;

export type FormatName = keyof typeof FORMATS;
export const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[];
