// SPDX-License-Identifier: MIT OR Apache-2.0
// The benchmarks of a cell: the metric that its scenario compares, with the samples or the values of every round.
import type { Value } from "../protocol/message.js";
import type { RecordedCell, RunRecord } from "../run/record.js";
import { decodeHistogram, recordedValues } from "../statistics/histogram.js";
import { SIZES_NS } from "../statistics/sizes.js";

export interface Benchmark {
  cell: RecordedCell;
  metric: string;
  /** The cell's parameters as text, and the size of a sweep. */
  params: Record<string, string>;
}

/** Returns the benchmarks of a run. The scenario `sizes` has one for each of its sizes. */
export function benchmarksOf(record: RunRecord): Benchmark[] {
  // Without the cells that only measure a mechanism again.
  const recorded = record.cells.filter(({ control, rounds }) => !control && rounds.length > 0);
  return recorded.flatMap((cell) => {
    const params = texts(cell.params);
    if (cell.scenario === "sizes" && cell.family !== "bench") {
      return Object.keys(SIZES_NS).map((metric) => ({
        cell,
        metric,
        params: { ...params, size: metric.replace(/^task/, "") },
      }));
    }
    const compare = record.scenarios.find(({ name }) => name === cell.scenario)?.compare ?? "";
    return [
      {
        cell,
        metric: isBatches(cell) ? "batchTimes" : (compare.split(".")[0] ?? ""),
        params,
      },
    ];
  });
}

/** Returns whether the cell compares the median of its batches, and has a sample for each batch. */
function isBatches({ scenario, family }: RecordedCell): boolean {
  return ["works", "published-executors"].includes(scenario) && family !== "bench";
}

/** Returns the name of a benchmark's class in formats that have classes. */
export function classOf({ host, family, scenario }: RecordedCell): string {
  return `clearway.lab.${host}.${family}.${scenario}`;
}

/** The samples of one round, in nanoseconds. */
export interface RoundSamples {
  /** Each value with its count. In the order of the measurement if `fromHistogram` is false, otherwise ascending. */
  values: [ns: number, count: number][];
  /** Whether the single samples are gone, and the values come from a histogram: sorted, and exact to a thousandth. */
  fromHistogram: boolean;
  /** The number of calls per sample. */
  batch: number;
}

/** Returns the samples of each round that has some. */
export function samplesOf({ rounds }: RecordedCell, metric: string): RoundSamples[] {
  const sets = rounds.flatMap(({ measurement }) => measurement.samples[metric] ?? []);
  return sets.map(({ raw, hdr, batch = 1 }) => ({
    values: raw === undefined ? recordedValues(decodeHistogram(hdr)) : raw.map((ns): [number, number] => [ns, 1]),
    fromHistogram: raw === undefined,
    batch,
  }));
}

/** Returns the value of each round that has one. */
export function valuesOf({ rounds }: RecordedCell, metric: string): Value[] {
  return rounds.flatMap(({ measurement }) => measurement.values[metric] ?? []);
}

function texts(params: RecordedCell["params"]): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
}
