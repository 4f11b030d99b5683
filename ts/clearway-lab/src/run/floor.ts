// SPDX-License-Identifier: MIT OR Apache-2.0
// The noise floor: how much two runs of the same thing differ. It comes from A/A pairs, which measure one mechanism as two cells. Each
// scenario, host and load with such a pair has a noise floor.
import type { HostName, Params } from "../protocol/message.js";
import { CONTROL_PARAM } from "../scenario/plan.js";
import { noiseFloor } from "../statistics/compare.js";
import { QUANTILES, type QuantileName } from "../statistics/distribution.js";
import { decodeHistogram, type Histogram } from "../statistics/histogram.js";
import type { RecordedCell, RunRecord } from "./record.js";

export interface Floor {
  family: string;
  scenario: string;
  host: HostName;
  params: Params;
  mechanism: string;
  metric: string;
  /** Maximum factor between two runs of the same thing. It is at least 1.05. */
  ratio: number;
  rounds: number;
}

/**
 * Returns one number per round for `metric`, which is the name of a value, SAMPLE.QUANTILE, SAMPLE.mean, SAMPLE.min or SAMPLE.max. A time
 * below a clock step counts as one step, because its exact length is unknown.
 */
export function byRound(record: Pick<RunRecord, "hosts">, cell: RecordedCell, metric: string): Map<number, number> {
  const [name, figure] = metric.split(".") as [string, string | undefined];
  const found = new Map<number, number>();
  const stepNs = (record.hosts[cell.host]?.clockStepUs ?? 0) * 1000;
  for (const { round, measurement } of cell.rounds) {
    if (figure === undefined) {
      const value = measurement.values[name];
      if (value !== undefined) found.set(round, value.value);
    } else {
      const sample = measurement.samples[name];
      if (sample !== undefined) {
        const ns = figureOf(decodeHistogram(sample.hdr), figure);
        found.set(round, Math.max(stepNs / (sample.batch ?? 1), ns));
      }
    }
  }
  return found;
}

/** The figures of samples besides the quantiles. */
const EXTREMES: Record<string, number> = { min: 0, max: 1 };

function figureOf(histogram: Histogram, figure: string): number {
  if (figure === "mean") return histogram.mean;
  const quantile = QUANTILES[figure as QuantileName] ?? EXTREMES[figure];
  if (quantile === undefined) throw new RangeError(`no such figure of samples: figure=${figure}`);
  return histogram.getValueAtPercentile(quantile * 100);
}

export function floorsOf(record: RunRecord): Floor[] {
  const floors: Floor[] = [];
  for (const repeat of record.cells.filter((cell) => cell.control)) {
    const first = record.cells.find((cell) => !cell.control && isRepeatOf(cell, repeat));
    const scenario = record.scenarios.find(({ name }) => name === repeat.scenario)!;
    if (first === undefined) continue;
    const metric = scenario.compare;
    const a = byRound(record, first, metric);
    const b = byRound(record, repeat, metric);
    const ratio = noiseFloor(a, b);
    if (ratio === undefined) continue;
    const { family, host, params, mechanism } = first;
    const rounds = Math.min(a.size, b.size);
    floors.push({
      family,
      scenario: scenario.name,
      host,
      params,
      mechanism,
      metric,
      ratio: Number(ratio.toFixed(3)),
      rounds,
    });
  }
  return floors;
}

function isRepeatOf(cell: RecordedCell, repeat: RecordedCell): boolean {
  const { [CONTROL_PARAM]: _, ...params } = repeat.params;
  return (
    cell.scenario === repeat.scenario &&
    cell.host === repeat.host &&
    cell.mechanism === repeat.mechanism &&
    sameParams(cell.params, params)
  );
}

export function sameParams(a: Params, b: Params): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
