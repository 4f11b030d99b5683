// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts a run to the Benchmark JSON of Android's Jetpack Benchmark, for tools that read that format. Fields that exist only on
// Android are empty, -1 or null, as the format allows. spec/jetpack-benchmark.schema.json describes each field.
import type { RecordedCell, RunRecord } from "../run/record.js";
import { median } from "../statistics/compare.js";
import { type Benchmark, benchmarksOf, classOf, samplesOf, valuesOf } from "./benchmark.js";

export interface JetpackMetric {
  minimum: number;
  maximum: number;
  median: number;
  coefficientOfVariation: number;
  runs: number[];
}

export interface JetpackBenchmark {
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

export interface JetpackReport {
  context: Record<string, unknown> & { payload: Record<string, string> };
  benchmarks: JetpackBenchmark[];
}

const NS: Record<string, number> = { us: 1e3, ms: 1e6 };

/**
 * Converts a run. Leaves out cells that measure something other than time (such as events per second), cells without rounds, and
 * cells that only measure a mechanism again. The payload's `runsFromHistogram` is a JSON list of the benchmarks whose single samples are
 * gone: their runs come from a histogram, sorted and exact to a thousandth.
 */
export function jetpackReport(record: RunRecord): JetpackReport {
  const made = benchmarksOf(record).flatMap((each) => benchmarkOf(each));
  const sorted = made.filter(({ fromHistogram }) => fromHistogram).map(({ benchmark }) => nameOf(benchmark));
  const context = contextOf(record);
  if (sorted.length > 0) context.payload["runsFromHistogram"] = JSON.stringify(sorted);
  return { context, benchmarks: made.map(({ benchmark }) => benchmark) };
}

function nameOf({ className, name }: JetpackBenchmark): string {
  return `${className}.${name}`;
}

function contextOf({ machine, build, hosts, profile, startedAt, seed }: RunRecord): JetpackReport["context"] {
  const runtimes = Object.entries(hosts).map(([host, { runtime }]) => [`runtime.${host}`, runtime]);
  return {
    build: {
      brand: "",
      device: "",
      fingerprint: "",
      id: "",
      model: machine.cpu,
      type: "",
      version: { codename: "", sdk: 0 },
    },
    cpuCoreCount: machine.cores,
    cpuLocked: false,
    cpuMaxFreqHz: -1,
    memTotalBytes: Math.round(machine.memoryGb * 2 ** 30),
    sustainedPerformanceModeEnabled: false,
    artMainlineVersion: -1,
    osCodenameAbbreviated: "",
    compilationMode: "",
    payload: {
      producer: `clearway-lab ${build.lab}`,
      clearway: build.clearway,
      os: `${machine.os}, ${machine.arch}`,
      governor: machine.governor,
      profile,
      seed: String(seed),
      startedAt,
      ...Object.fromEntries(runtimes),
    },
  };
}

function benchmarkOf({ cell, metric, params }: Benchmark): { benchmark: JetpackBenchmark; fromHistogram: boolean }[] {
  const samples = samplesOf(cell, metric);
  const runs = samples.length > 0 ? samples.flatMap(({ values }) => values.flatMap(repeated)) : timesOf(cell, metric);
  if (runs.length === 0) return [];
  const written = Object.entries(params).map(([name, value]) => `${name}=${value}`);
  const cold = timesOf(cell, "coldBatch");
  const allocations = valuesOf(cell, "allocations").map(({ value }) => value);
  const warm = valuesOf(cell, "warmBatches").map(({ value }) => value);
  const benchmark: JetpackBenchmark = {
    // androidx reads a test's parameters from the brackets in its name.
    name: `${cell.mechanism}[${written.join(",")}]`,
    params,
    className: classOf(cell),
    totalRunTimeNs: Math.round(cell.rounds.reduce((sum, { tookMs }) => sum + tookMs, 0) * 1e6),
    metrics: {
      timeNs: metricOf(runs),
      ...(cold.length === 0 || metric !== "batchTimes" ? {} : { coldTimeNs: metricOf(cold) }),
      ...(allocations.length === 0 ? {} : { allocationCount: metricOf(allocations) }),
    },
    sampledMetrics: {},
    warmupIterations: warm.length === 0 ? null : Math.round(median(warm)),
    repeatIterations: samples[0]?.batch ?? 1,
    thermalThrottleSleepSeconds: null,
    profilerOutputs: null,
  };
  return [{ benchmark, fromHistogram: samples.some(({ fromHistogram }) => fromHistogram) }];
}

function repeated([ns, count]: [ns: number, count: number]): number[] {
  return new Array<number>(count).fill(ns);
}

/** Returns one time per round, in nanoseconds. Returns [] if the metric is not a time. */
function timesOf(cell: RecordedCell, metric: string): number[] {
  return valuesOf(cell, metric).flatMap(({ unit, value }) => (unit in NS ? [value * (NS[unit] ?? 1)] : []));
}

/** Calculates the figures of a metric as androidx does. The deviation is that of a sample (divided by n - 1). */
function metricOf(runs: number[]): JetpackMetric {
  const mean = runs.reduce((sum, run) => sum + run, 0) / runs.length;
  const squares = runs.reduce((sum, run) => sum + (run - mean) ** 2, 0);
  const deviation = runs.length === 1 ? 0 : Math.sqrt(squares / (runs.length - 1));
  const sorted = [...runs].sort((a, b) => a - b);
  return {
    minimum: sorted[0] ?? 0,
    maximum: sorted.at(-1) ?? 0,
    median: median(runs),
    coefficientOfVariation: mean === 0 ? 0 : deviation / mean,
    runs,
  };
}
