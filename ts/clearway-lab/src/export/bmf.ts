// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts a run to Bencher Metric Format: benchmarks, their measures, and for each a value with its bounds.
import type { RecordedCell } from "../run/record.js";
import type { Metric } from "../run/results.js";
import { QUANTILES } from "../statistics/distribution.js";
import { decodeHistogram } from "../statistics/histogram.js";
import { type ExportSource, exportedName, measuredCells, recordedCells } from "./source.js";

export interface BmfMetric {
  value: number;
  lower_value?: number;
  upper_value?: number;
}

export type BmfReport = Record<string, Record<string, BmfMetric>>;

const NS: Record<string, number> = { us: 1e3, ms: 1e6 };

/**
 * Converts a run. Times are in nanoseconds, as Bencher's own measure `latency`; everything else keeps its unit. A distribution becomes its
 * median, and its p99 if the samples support that. The bounds are the lowest and the highest round. They are absent if only the figures of
 * the run are kept.
 */
export function bmfReport({ results, record }: ExportSource): BmfReport {
  const recorded = new Map(
    (record === undefined ? [] : recordedCells(record)).map((cell) => [exportedName(cell), cell]),
  );
  const report: BmfReport = {};
  for (const cell of measuredCells(results)) {
    const name = exportedName(cell);
    const measures = Object.entries(cell.metrics).flatMap(([metric, figure]) =>
      measuresOf(metric, figure, recorded.get(name)),
    );
    // Bencher refuses a benchmark without measures.
    if (measures.length > 0) report[name] = { ...report[name], ...Object.fromEntries(measures) };
  }
  return report;
}

function measuresOf(metric: string, figure: Metric, cell: RecordedCell | undefined): [string, BmfMetric][] {
  const measure = metric.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const scale = NS[figure.unit] ?? 1;
  if ("value" in figure) {
    const rounds = cell?.rounds.flatMap(({ measurement }) => measurement.values[metric]?.value ?? []) ?? [];
    return [[measure, bounded(figure.value, rounds, scale)]];
  }
  const histograms =
    cell?.rounds.flatMap(({ measurement }) => measurement.samples[metric]?.hdr ?? []).map(decodeHistogram) ?? [];
  const at = (quantile: "p50" | "p99"): BmfMetric =>
    bounded(
      figure[quantile],
      histograms.map((each) => each.getValueAtPercentile(QUANTILES[quantile] * 100) / scale),
      scale,
    );
  const p99: [string, BmfMetric][] = figure.unsupported?.includes("p99") ? [] : [[`${measure}-p99`, at("p99")]];
  return [[measure, at("p50")], ...p99];
}

/** Returns the value with the bounds of the rounds. The value of a merged histogram may lie beyond them by its rounding. */
function bounded(value: number, rounds: readonly number[], scale: number): BmfMetric {
  if (rounds.length === 0) return { value: scaled(value, scale) };
  return {
    value: scaled(value, scale),
    lower_value: scaled(Math.min(value, ...rounds), scale),
    upper_value: scaled(Math.max(value, ...rounds), scale),
  };
}

/** Multiplies without the error of a binary fraction: 0.07 ms are 70000 ns. */
function scaled(value: number, scale: number): number {
  return Number((value * scale).toPrecision(12));
}
