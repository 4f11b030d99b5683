// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts a run to the JSON of JMH (`-rf json`), for JMH's visualizers and for continuous benchmarking services. A round is a fork of one
// iteration, because each measurement has a fresh process, page or JVM.
import type { Unit } from "../protocol/message.js";
import type { RecordedCell, RunRecord } from "../run/record.js";
import { median } from "../statistics/compare.js";
import { meanError } from "../statistics/student.js";
import { type Benchmark, benchmarksOf, classOf, samplesOf, valuesOf } from "./benchmark.js";

/** JMH writes numbers that do not exist as text. */
type JmhNumber = number | "NaN";

export interface JmhMetric {
  score: number;
  /** Half of the mean's 99.9 % confidence interval. NaN for up to two samples. */
  scoreError: JmhNumber;
  scoreConfidence: [JmhNumber, JmhNumber];
  scorePercentiles: Record<string, number>;
  scoreUnit: string;
  /** The values of each fork and iteration. Absent in the mode `sample`. */
  rawData?: number[][];
  /** In the mode `sample`: each value with its count, of each fork and iteration. */
  rawDataHistogram?: [value: number, count: number][][][];
}

export interface JmhResult {
  jmhVersion: string;
  benchmark: string;
  mode: "sample" | "avgt" | "thrpt";
  threads: number;
  forks: number;
  jvm: string;
  jvmArgs: string[];
  jdkVersion: string;
  vmName: string;
  vmVersion: string;
  warmupIterations: number;
  warmupTime: string;
  warmupBatchSize: number;
  measurementIterations: number;
  measurementTime: string;
  measurementBatchSize: number;
  params: Record<string, string>;
  primaryMetric: JmhMetric;
  secondaryMetrics: Record<string, JmhMetric>;
}

const UNITS: Partial<Record<Unit, { scale: number; unit: string }>> = {
  us: { scale: 1e3, unit: "ns/op" },
  ms: { scale: 1e6, unit: "ns/op" },
  "events/s": { scale: 1, unit: "ops/s" },
};
const PERCENTILES = [0, 50, 90, 95, 99, 99.9, 99.99, 99.999, 99.9999, 100];
/** The version of JMH whose format this is. */
const JMH_VERSION = "1.37";

/** Converts a run. Leaves out cells without the metric that their scenario compares. */
export function jmhResults(record: RunRecord): JmhResult[] {
  return benchmarksOf(record).flatMap((each) => resultOf(record, each));
}

function resultOf(record: RunRecord, { cell, metric, params }: Benchmark): JmhResult[] {
  const samples = samplesOf(cell, metric);
  const primaryMetric = samples.length > 0 ? sampledMetric(samples.map(({ values }) => values)) : valued(cell, metric);
  if (primaryMetric === undefined) return [];
  const warm = valuesOf(cell, "warmBatches").map(({ value }) => value);
  const others = new Set(cell.rounds.flatMap(({ measurement }) => Object.keys(measurement.values)));
  const isRate = primaryMetric.scoreUnit.endsWith("/s");
  return [
    {
      jmhVersion: JMH_VERSION,
      benchmark: `${classOf(cell)}.${cell.mechanism}`,
      mode: samples.length > 0 ? "sample" : isRate ? "thrpt" : "avgt",
      threads: 1,
      forks: cell.rounds.length,
      // JMH names the JVM here. The other hosts have none, so only the runtime's name is known.
      jvm: "",
      jvmArgs: [],
      jdkVersion: "",
      vmName: record.hosts[cell.host]?.runtime ?? cell.host,
      vmVersion: "",
      warmupIterations: warm.length === 0 ? 0 : Math.round(median(warm)),
      warmupTime: "single-shot",
      warmupBatchSize: 1,
      measurementIterations: 1,
      measurementTime: "single-shot",
      measurementBatchSize: samples[0]?.batch ?? 1,
      params,
      primaryMetric,
      secondaryMetrics: Object.fromEntries(
        [...others].flatMap((name) => {
          const found = name === metric ? undefined : valued(cell, name);
          return found === undefined ? [] : [[name, found]];
        }),
      ),
    },
  ];
}

function sampledMetric(rounds: [value: number, count: number][][]): JmhMetric {
  const sorted = rounds.flat().sort(([a], [b]) => a - b);
  return { ...statistics(sorted, "ns/op"), rawDataHistogram: rounds.map((values) => [values]) };
}

function valued(cell: RecordedCell, metric: string): JmhMetric | undefined {
  const found = valuesOf(cell, metric);
  const [first] = found;
  if (first === undefined) return undefined;
  const { scale, unit } = UNITS[first.unit] ?? { scale: 1, unit: first.unit };
  const values = found.map(({ value }) => value * scale);
  const sorted = values.toSorted((a, b) => a - b).map((value): [number, number] => [value, 1]);
  return { ...statistics(sorted, unit), rawData: values.map((value) => [value]) };
}

/** Calculates JMH's figures of ascending values with their counts. The percentiles are interpolated as JMH does. */
function statistics(sorted: readonly (readonly [value: number, count: number])[], scoreUnit: string): JmhMetric {
  const n = sorted.reduce((sum, [, count]) => sum + count, 0);
  const mean = sorted.reduce((sum, [value, count]) => sum + value * count, 0) / n;
  const squares = sorted.reduce((sum, [value, count]) => sum + count * (value - mean) ** 2, 0);
  const error = meanError(n, squares);
  return {
    score: mean,
    scoreError: error ?? "NaN",
    scoreConfidence: error === undefined ? ["NaN", "NaN"] : [mean - error, mean + error],
    scorePercentiles: Object.fromEntries(
      PERCENTILES.map((percent) => [percent.toFixed(Math.max(1, digits(percent))), percentile(sorted, n, percent)]),
    ),
    scoreUnit,
  };
}

const digits = (percent: number): number => String(percent).split(".")[1]?.length ?? 0;

function percentile(sorted: readonly (readonly [value: number, count: number])[], n: number, percent: number): number {
  const position = (percent / 100) * (n + 1);
  const below = Math.min(n, Math.max(1, Math.floor(position)));
  const above = Math.min(n, below + 1);
  const low = valueAt(sorted, below);
  if (position <= 1) return low;
  return low + Math.min(1, position - below) * (valueAt(sorted, above) - low);
}

/** Returns the value with the given rank. The first rank is 1. */
function valueAt(sorted: readonly (readonly [value: number, count: number])[], rank: number): number {
  let seen = 0;
  for (const [value, count] of sorted) {
    seen += count;
    if (seen >= rank) return value;
  }
  return sorted.at(-1)![0];
}
