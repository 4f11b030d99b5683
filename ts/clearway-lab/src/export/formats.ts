// SPDX-License-Identifier: MIT OR Apache-2.0
// A run in the formats of other tools: its answers as Markdown, and its answers or the published executors as the Benchmark JSON of Android's
// Jetpack Benchmark.
import type { Answer, LabResults } from "../engine/answer.js";
import { quantile } from "../engine/estimate.js";
import { openingOf, withoutAdvice } from "../report/answers/advice.js";
import {
  controlText,
  doubtsOf,
  GROUPS,
  ratioText,
  sentenceOf,
  shownAnswers,
  timeText,
} from "../report/answers/words.js";
import { duration } from "../report/number.js";
import { PUBLISHED_EXECUTORS } from "../run/executors.js";
import type { RecordedCell, RunRecord } from "../run/record.js";

// Converts answers to the Benchmark JSON of Android's Jetpack Benchmark, for tools that read that format. Fields that exist only on
// Android are empty, -1 or null, as the format allows. spec/jetpack-benchmark.schema.json describes each field.

interface JetpackMetric {
  minimum: number;
  maximum: number;
  median: number;
  coefficientOfVariation: number;
  runs: number[];
}

interface JetpackBenchmark {
  name: string;
  params: Record<string, string>;
  className: string;
  totalRunTimeNs: number;
  metrics: Record<string, JetpackMetric>;
  sampledMetrics: Record<string, never>;
  warmupIterations: number | null;
  repeatIterations: number | null;
  thermalThrottleSleepSeconds: null;
  profilerOutputs: null;
}

interface JetpackReport {
  context: Record<string, unknown> & { payload: Record<string, string> };
  benchmarks: JetpackBenchmark[];
}

/** Converts a run. Each side of an answer is a benchmark, whose runs are its costs in each pair of processes. */
export function jetpackReport(results: LabResults): JetpackReport {
  return {
    context: contextOf(results, results.run),
    benchmarks: results.answers
      .filter(({ costsNs }) => costsNs.length > 0)
      .flatMap((answer) => [
        benchmarkOf(answer, answer.way ?? "subject", 0),
        benchmarkOf(answer, answer.way === undefined ? "peer" : answer.peer, 1),
      ]),
  };
}

/**
 * Converts the published experiment about executors. Each way is a benchmark for each kind of work, whose runs are the timed lists of all
 * rounds; the runs of `allocationCount` are a round each.
 */
export function jetpackOfExecutors(record: RunRecord): JetpackReport {
  return {
    context: contextOf(record, { ...record, command: `clearway lab --profile ${record.profile}` }),
    benchmarks: record.cells.filter(({ scenario }) => scenario === PUBLISHED_EXECUTORS).flatMap(executorBenchmarks),
  };
}

function executorBenchmarks({ mechanism, host, params, rounds }: RecordedCell): JetpackBenchmark[] {
  const work = String(params["work"]);
  const runs = rounds.flatMap(({ measurement }) => measurement.samples["batchTimes"]?.raw ?? []);
  const objects = rounds.flatMap(({ measurement }) => measurement.values["allocations"]?.value ?? []);
  return runs.length === 0 ? [] : [benchmark(mechanism, host, { work }, runs, objects)];
}

function contextOf(
  { machine, build }: Pick<LabResults, "machine" | "build">,
  { command, seed, startedAt }: Pick<LabResults["run"], "command" | "seed" | "startedAt">,
): JetpackReport["context"] {
  return {
    build: {
      ...{ brand: "", device: "", fingerprint: "", id: "", model: machine.cpu, type: "" },
      version: { codename: "", sdk: 0 },
    },
    ...{ cpuCoreCount: machine.cores, cpuLocked: false, cpuMaxFreqHz: -1 },
    memTotalBytes: Math.round(machine.memoryGb * 2 ** 30),
    ...{ sustainedPerformanceModeEnabled: false, artMainlineVersion: -1, osCodenameAbbreviated: "" },
    compilationMode: "",
    payload: {
      ...{ producer: `clearway-lab ${build.lab}`, clearway: build.clearway, os: `${machine.os}, ${machine.arch}` },
      ...{ governor: machine.governor, command, seed: String(seed), startedAt, node: build.node },
    },
  };
}

function benchmarkOf({ name, host, costsNs }: Answer, side: string, at: 0 | 1): JetpackBenchmark {
  return benchmark(
    name,
    host,
    { side },
    costsNs.map((pair) => pair[at]),
  );
}

function benchmark(
  name: string,
  host: string,
  params: Record<string, string>,
  runs: number[],
  objects: number[] = [],
): JetpackBenchmark {
  const text = Object.entries(params).map(([key, value]) => `${key}=${value}`);
  return {
    // androidx reads a test's parameters from the brackets in its name.
    ...{ name: `${name}[${text.join(",")}]`, params, className: `clearway.lab.${host}` },
    totalRunTimeNs: Math.round(runs.reduce((sum, run) => sum + run, 0)),
    ...{
      metrics: { timeNs: metricOf(runs), ...(objects.length > 0 && { allocationCount: metricOf(objects) }) },
      sampledMetrics: {},
      warmupIterations: null,
      repeatIterations: runs.length,
    },
    ...{ thermalThrottleSleepSeconds: null, profilerOutputs: null },
  };
}

/** Calculates the figures of a metric as androidx does. The deviation is that of a sample (divided by n - 1). */
function metricOf(runs: number[]): JetpackMetric {
  const mean = runs.reduce((sum, run) => sum + run, 0) / runs.length;
  const squares = runs.reduce((sum, run) => sum + (run - mean) ** 2, 0);
  const deviation = runs.length === 1 ? 0 : Math.sqrt(squares / (runs.length - 1));
  return {
    ...{ minimum: Math.min(...runs), maximum: Math.max(...runs), median: quantile(runs, 0.5) },
    ...{ coefficientOfVariation: deviation / mean, runs },
  };
}

// Writes the answers of a run as Markdown, for an issue, a pull request or a page: what to do, the answers by group, the doubts, the figures.

export function markdownText(results: LabResults): string {
  const { run, machine, controls } = results;
  const answers = shownAnswers(results);
  const { title, lines } = openingOf(results);
  const list = (heading: string, texts: readonly string[]): string[] =>
    texts.length === 0 ? [] : [heading, texts.map((text) => `- ${escaped(text)}`).join("\n")];
  const control = controlText(results);
  const parts = [
    ...(title === "" ? [] : [`# ${escaped(title)}`]),
    lines.length === 0 ? escaped(withoutAdvice(results)) : lines.map((line) => `- ${escaped(line)}`).join("\n"),
    escaped(
      `${run.startedAt}, ${duration(run.durationMs)}${run.interrupted ? ", interrupted" : ""}; ${machine.cpu}, ${machine.cores} cores.`,
    ),
    ...GROUPS.flatMap((group) =>
      list(
        `## ${group.title}`,
        answers.filter(({ verdict }) => verdict === group.verdict).map((answer) => sentenceOf(answer, results)),
      ),
    ),
    ...(control === undefined ? [] : ["## The control", escaped(control)]),
    ...list(
      "## Doubts",
      doubtsOf(results).map(({ text, next }) => `${text} Next: ${next}.`),
    ),
    "## All figures",
    table([
      ["question", "ratio", "interval", "time", "peer's time", "pairs"],
      ["---", "---:", "---:", "---:", "---:", "---:"],
      ...[...answers, ...controls].map(({ name, interval, subjectNs, peerNs, pairs }) => [
        escaped(name),
        interval === undefined ? "" : ratioText(interval.ratio),
        interval === undefined ? "" : `${ratioText(interval.low)} to ${ratioText(interval.high)}`,
        subjectNs === undefined ? "" : timeText(subjectNs),
        peerNs === undefined ? "" : timeText(peerNs),
        String(pairs.length),
      ]),
    ]),
  ];
  return `${parts.join("\n\n")}\n`;
}

const table = (rows: readonly (readonly string[])[]): string => rows.map((row) => `| ${row.join(" | ")} |`).join("\n");

/** Keeps a text in one cell or one line. Markdown and HTML in it are shown and not interpreted. */
function escaped(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.replace(/[\\`*_{}[\]<>|#]/g, (found) => `\\${found}`);
}
