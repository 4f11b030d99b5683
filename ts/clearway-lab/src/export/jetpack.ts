// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts answers to the Benchmark JSON of Android's Jetpack Benchmark, for tools that read that format. Fields that exist only on
// Android are empty, -1 or null, as the format allows. spec/jetpack-benchmark.schema.json describes each field.
import type { Answer, LabResults } from "../engine/answer.js";
import { quantile } from "../engine/estimate.js";

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

/** Converts a run. Each side of an answer is a benchmark, whose runs are its costs in each pair of processes. */
export function jetpackReport({ run, answers, machine, build }: LabResults): JetpackReport {
  return {
    context: {
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
        ...{ governor: machine.governor, command: run.command, seed: String(run.seed), startedAt: run.startedAt },
        node: build.node,
      },
    },
    benchmarks: answers
      .filter(({ costsNs }) => costsNs.length > 0)
      .flatMap((answer) => [
        benchmarkOf(answer, answer.way ?? "subject", 0),
        benchmarkOf(answer, answer.way === undefined ? "peer" : answer.peer, 1),
      ]),
  };
}

function benchmarkOf({ name, host, costsNs }: Answer, side: string, at: 0 | 1): JetpackBenchmark {
  const runs = costsNs.map((pair) => pair[at]);
  return {
    // androidx reads a test's parameters from the brackets in its name.
    ...{ name: `${name}[side=${side}]`, params: { side }, className: `clearway.lab.${host}` },
    totalRunTimeNs: Math.round(runs.reduce((sum, run) => sum + run, 0)),
    ...{
      metrics: { timeNs: metricOf(runs) },
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
