// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads one cell's figure from a record: one logarithm of a cost per round. A cost is a time, a number, or 1 / a throughput, so that a
// larger one is always worse.
import type { RecordedCell, RunRecord } from "../run/record.js";
import { median } from "../statistics/compare.js";
import { QUANTILE_NAMES, QUANTILES, type QuantileName } from "../statistics/distribution.js";
import { decodeHistogram, type Histogram } from "../statistics/histogram.js";
import { randomFrom } from "../statistics/random.js";
import { type RoundFigure, redrawnQuantiles } from "../statistics/resample.js";
import { cellKey, type KeptRun, KeptRunError } from "./kept-run.js";

/** A figure that is compared: a value, or a quantile of samples. */
export interface Metric {
  name: string;
  sample: string;
  quantile: QuantileName | undefined;
}

/** Parses the name of a value, or SAMPLE.QUANTILE. Returns undefined if the quantile is unknown. */
export function parseMetric(name: string): Metric | undefined {
  const [sample = "", quantile, ...rest] = name.split(".");
  if (sample === "" || rest.length > 0) return undefined;
  if (quantile !== undefined && !(QUANTILE_NAMES as string[]).includes(quantile)) return undefined;
  return { name, sample, quantile: quantile as QuantileName | undefined };
}

export interface Figures {
  unit: string;
  rounds: RoundFigure[];
  /** The median of the rounds in `unit`. */
  middle: number;
}

/** Why a cell has no figures that can be compared. */
export interface NoFigures {
  why: string;
}

const NS_PER: Record<string, number> = { us: 1e3, ms: 1e6 };
const MORE_IS_BETTER = ["events/s", "MB/s"];
const COUNTED = ["bytes", "count", "frames", "events"];

/** Returns whether the unit is of something counted, which a machine's speed does not change. */
export const isCounted = (unit: string): boolean => COUNTED.includes(unit);

/** Returns whether two units measure the same thing. Figures of both are kept in a common unit. */
export const areComparable = (a: string, b: string): boolean => a === b || (a in NS_PER && b in NS_PER);

/**
 * Returns the figures of a cell. Throws a KeptRunError if a histogram of the record is malformed. A figure of 0 or less, which has no
 * logarithm, is the reason of a `NoFigures`.
 */
export function figuresOf(run: KeptRun, cell: RecordedCell, metric: Metric): Figures | NoFigures {
  const why = cell.failure ?? cell.unavailable;
  if (why !== undefined && cell.rounds.length === 0) return { why };
  const rounds: RoundFigure[] = [];
  const shown: number[] = [];
  let unit: string | undefined;
  for (const { round, measurement } of [...cell.rounds].sort((a, b) => a.round - b.round)) {
    const found =
      metric.quantile === undefined ? measurement.values[metric.sample] : measurement.samples[metric.sample];
    if (found === undefined) continue;
    unit ??= found.unit;
    if (found.unit !== unit) return { why: `its rounds have different units: ${unit} and ${found.unit}` };
    const { cost, redrawn } = "hdr" in found ? quantileOf(run, cell, round, metric) : costOf(found);
    const wrong = [cost, ...redrawn].find((each) => !(each > 0 && Number.isFinite(each)));
    if (wrong !== undefined) {
      const value = "hdr" in found ? wrong / (NS_PER[unit] ?? 1) : found.value;
      return { why: `${metric.name} is ${value} ${unit} in round ${round}, and a ratio needs a number above 0` };
    }
    rounds.push({ round, log: Math.log(cost), redrawn: redrawn.map(Math.log) });
    shown.push("hdr" in found ? cost / NS_PER[unit]! : found.value);
  }
  if (unit === undefined)
    return { why: cell.rounds.length === 0 ? "it has no rounds" : `it has no figure ${metric.name}` };
  return { unit, rounds, middle: median(shown) };
}

function costOf({ unit, value }: { unit: string; value: number }): { cost: number; redrawn: number[] } {
  return { cost: MORE_IS_BETTER.includes(unit) ? 1 / value : value * (NS_PER[unit] ?? 1), redrawn: [] };
}

/** Returns the quantile in nanoseconds. A time under a clock step counts as one step, as in the run's own comparisons. */
function quantileOf(run: KeptRun, cell: RecordedCell, round: number, { sample, quantile }: Metric) {
  const { record } = run;
  const at = cell.rounds.findIndex((each) => each.round === round);
  const { n, hdr, batch = 1 } = cell.rounds[at]!.measurement.samples[sample]!;
  const field = `/cells/${record.cells.indexOf(cell)}/rounds/${at}/measurement/samples/${sample}`;
  let histogram: Histogram;
  try {
    histogram = decodeHistogram(hdr);
  } catch (error) {
    throw new KeptRunError(
      run.file,
      `${field}/hdr`,
      `it is not a histogram: ${(error as Error).message.slice(0, 120)}`,
    );
  }
  if (histogram.totalCount !== n)
    throw new KeptRunError(
      run.file,
      `${field}/n`,
      `the histogram has another number of samples: n=${n}, found=${histogram.totalCount}`,
    );
  const q = QUANTILES[quantile!];
  const stepNs = ((record.hosts[cell.host]?.clockStepUs ?? 0) * 1000) / batch;
  const random = randomFrom(seedOf(record, `${cellKey(cell)} ${round}`));
  return {
    cost: Math.max(stepNs, histogram.getValueAtPercentile(q * 100)),
    redrawn: redrawnQuantiles(histogram, q, random).map((ns) => Math.max(stepNs, ns)),
  };
}

/** Returns a seed for the random numbers of one run and purpose, so that a comparison gives the same figures every time, in either order. */
export function seedOf(record: Pick<RunRecord, "seed" | "startedAt">, purpose: string): number {
  return seedFrom(`${record.seed} ${record.startedAt} ${purpose}`);
}

/** Returns a seed from a text (FNV-1a). */
export function seedFrom(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
