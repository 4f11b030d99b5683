// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts a run to the Benchmark JSON of Android's Jetpack Benchmark, for tools that read that format. Fields that exist only on
// Android are empty, -1 or null, as the format allows. spec/jetpack-benchmark.schema.json describes each field.
import type { SampleSet, Value } from "../protocol/message.js";
import type { RecordedCell, RunRecord } from "../run/record.js";
import { median } from "../statistics/compare.js";
import { decodeHistogram } from "../statistics/histogram.js";
import { SIZES_NS } from "../statistics/sizes.js";

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
  context: Record<string, unknown>;
  benchmarks: JetpackBenchmark[];
}

const NS: Record<string, number> = { us: 1e3, ms: 1e6 };

/**
 * Converts a run. Leaves out cells that measure something other than time (such as events per second), cells without rounds, and
 * cells that only measure a mechanism again.
 */
export function jetpackReport(record: RunRecord): JetpackReport {
  const cells = record.cells.filter((cell) => !cell.control && cell.rounds.length > 0);
  return { context: contextOf(record), benchmarks: cells.flatMap((cell) => benchmarksOf(record, cell)) };
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

function benchmarksOf(record: RunRecord, cell: RecordedCell): JetpackBenchmark[] {
  // The scenario `sizes` becomes one benchmark for each of its sizes.
  if (cell.scenario === "sizes") {
    return Object.keys(SIZES_NS).flatMap((metric) => benchmarkOf(cell, metric, { size: metric.replace(/^task/, "") }));
  }
  const compare = record.scenarios.find(({ name }) => name === cell.scenario)?.compare ?? "";
  return benchmarkOf(cell, cell.scenario === "works" ? "batchTimes" : (compare.split(".")[0] ?? ""), {});
}

function benchmarkOf(cell: RecordedCell, metric: string, more: Record<string, string>): JetpackBenchmark[] {
  const runs = runsOf(cell, metric);
  if (runs.length === 0) return [];
  const params = { ...texts(cell.params), ...more };
  const written = Object.entries(params).map(([name, value]) => `${name}=${value}`);
  const cold = runsOf(cell, "coldBatch");
  const allocations = valuesOf(cell, "allocations").map(({ value }) => value);
  const warm = valuesOf(cell, "warmBatches").map(({ value }) => value);
  const [first] = cell.rounds;
  return [
    {
      // androidx reads a test's parameters from the brackets in its name.
      name: `${cell.mechanism}[${written.join(",")}]`,
      params,
      className: `clearway.lab.${cell.host}.${cell.family}.${cell.scenario}`,
      totalRunTimeNs: Math.round(cell.rounds.reduce((sum, { tookMs }) => sum + tookMs, 0) * 1e6),
      metrics: {
        timeNs: metricOf(runs),
        ...(cold.length === 0 || metric !== "batchTimes" ? {} : { coldTimeNs: metricOf(cold) }),
        ...(allocations.length === 0 ? {} : { allocationCount: metricOf(allocations) }),
      },
      sampledMetrics: {},
      warmupIterations: warm.length === 0 ? null : Math.round(median(warm)),
      repeatIterations: first?.measurement.samples[metric]?.batch ?? 1,
      thermalThrottleSleepSeconds: null,
      profilerOutputs: null,
    },
  ];
}

/** Returns every sample in nanoseconds, or one value per round if there are no samples. Returns [] if the metric is not a time. */
function runsOf(cell: RecordedCell, metric: string): number[] {
  const samples = cell.rounds.flatMap(({ measurement }) => measurement.samples[metric] ?? []);
  if (samples.length > 0) return samples.flatMap(samplesNs);
  return valuesOf(cell, metric).flatMap(({ unit, value }) => (unit in NS ? [value * (NS[unit] ?? 1)] : []));
}

/**
 * Returns the raw samples. Sets with too many samples have no raw samples. For such a set, returns the values of its histogram in
 * ascending order, exact to a thousandth.
 */
function samplesNs({ raw, hdr, n }: SampleSet): number[] {
  if (raw !== undefined) return raw;
  const histogram = decodeHistogram(hdr);
  return Array.from({ length: n }, (_, at) => histogram.getValueAtPercentile(((at + 0.5) / n) * 100));
}

function valuesOf(cell: RecordedCell, metric: string): Value[] {
  return cell.rounds.flatMap(({ measurement }) => measurement.values[metric] ?? []);
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

function texts(params: RecordedCell["params"]): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
}
