// SPDX-License-Identifier: MIT OR Apache-2.0
// The verdict of each compared cell.
import { type Estimate, intervalOf, probabilityAbove, withRunNoise } from "../statistics/compare-runs.js";
import { ROUNDS_MIN, SAME_RATIO } from "../statistics/decide.js";
import { holm } from "../statistics/holm.js";
import type { CellName, MatchedCell } from "./match.js";
import type { CellNoise } from "./noise.js";

export const VERDICTS = ["slower", "faster", "undecided", "no difference"] as const;
export type RunVerdict = (typeof VERDICTS)[number];

/** The probability that the interval contains the true ratio. */
export const LEVEL = 0.95;

/** The probability that any cell of two equal runs gets the verdict "slower" or "faster". */
export const FALSE_ALARMS_MAX = 0.05;

export interface ComparedCell extends CellName {
  key: string;
  unchanged: boolean;
  metric: string;
  unit: { a: string; b: string };
  /** Medians of the rounds, in the units. */
  a: number;
  b: number;
  rounds: number;
  /** Effective sample size: the number of rounds that count as independent. 0 for fewer than two rounds. */
  effectiveRounds: number;
  verdict: RunVerdict;
  /** Why no more than "undecided" can be said. */
  why?: string;
  /** B's cost / A's cost, and its interval. Above 1, B is slower. Absent for fewer than two rounds. */
  ratio?: number;
  low?: number;
  high?: number;
  /** Two-sided p-value for equal runs, corrected for the number of cells by Holm's method. */
  p?: number;
  /** The A/A floor as a factor of at least 1. */
  floor: number;
  /** The estimate as a logarithm, with the noise between runs. */
  estimate?: Estimate;
  /** Returns the p-value for "B's cost is at most `limit` times A's", not corrected. `limit` is a logarithm. Absent without an estimate. */
  probabilityAbove?: (limit: number) => number;
}

export interface Unjudged {
  cell: MatchedCell;
  rounds: number;
  rawEstimate: Estimate | undefined;
  noise: CellNoise;
  /** Returns the probability that two humps make equal code differ by a logarithm above 0. */
  humps: (difference: number) => number;
  floor: number;
}

/** Judges all cells together, because the p-values are corrected for their number. Sorts: slower, faster, undecided, no difference. */
export function judge(cells: readonly Unjudged[]): ComparedCell[] {
  const estimates = cells.map(({ rawEstimate, noise }) =>
    rawEstimate === undefined
      ? undefined
      : withRunNoise({ ...rawEstimate, log: rawEstimate.log - noise.shift }, noise.spread, noise.degrees),
  );
  // Only cells with enough rounds can be decided, so only they count.
  const tested = cells.flatMap(({ rounds }, at) => (estimates[at] !== undefined && rounds >= ROUNDS_MIN ? [at] : []));
  const corrected = holm(tested.map((at) => twoSided(estimates[at]!, cells[at]!.humps)));
  const p = new Map(tested.map((at, position) => [at, corrected[position]!]));
  return cells.map((each, at) => judgeOne(each, estimates[at], p.get(at))).sort(inOrder);
}

function twoSided(estimate: Estimate, humps: Unjudged["humps"]): number {
  return Math.min(1, 2 * probabilityOf({ ...estimate, log: Math.abs(estimate.log) }, humps, 0));
}

/** Returns the p-value for "the true logarithm is at most `limit`": by chance, or by two humps. */
function probabilityOf(estimate: Estimate, humps: Unjudged["humps"], limit: number): number {
  const excess = estimate.log - limit;
  // Figures without any noise, such as bytes, have no humps either.
  const byHumps = excess > 0 && estimate.error > 0 ? humps(excess) : 0;
  return Math.min(1, probabilityAbove(estimate, limit) + byHumps);
}

function judgeOne(
  { cell, rounds, floor, humps }: Unjudged,
  estimate: Estimate | undefined,
  p: number | undefined,
): ComparedCell {
  const { family, scenario, host, mechanism, role, params, key, unchanged, metric, a, b } = cell;
  const judged = {
    ...{ family, scenario, host, mechanism, role, params, key, unchanged, metric, rounds },
    unit: { a: a.unit, b: b.unit },
    a: a.middle,
    b: b.middle,
    floor: Math.exp(floor),
    effectiveRounds: estimate?.effectiveRounds ?? 0,
  };
  if (estimate === undefined)
    return { ...judged, verdict: "undecided", why: `${counted(rounds)} in both runs: ${ROUNDS_MIN} are needed` };
  const { low, high } = intervalOf(estimate, LEVEL);
  const figures = {
    ratio: Math.exp(estimate.log),
    low: Math.exp(low),
    high: Math.exp(high),
    estimate,
    probabilityAbove: (limit: number) => probabilityOf(estimate, humps, limit),
  };
  if (p === undefined)
    return {
      ...judged,
      ...figures,
      verdict: "undecided",
      why: `${counted(rounds)} in both runs: ${ROUNDS_MIN} are needed`,
    };
  const tested = { ...judged, ...figures, p };
  if (p < FALSE_ALARMS_MAX) {
    if (Math.abs(estimate.log) > floor) return { ...tested, verdict: estimate.log > 0 ? "slower" : "faster" };
    return {
      ...tested,
      verdict: "undecided",
      why: `within the A/A floor of the runs (${judged.floor.toPrecision(3)})`,
    };
  }
  return { ...tested, verdict: isSame(estimate) ? "no difference" : "undecided" };
}

/**
 * Returns whether the ratio is within a tenth of 1, by two one-sided tests at 5 %, which is the interval of 90 % (Schuirmann, Journal of
 * Pharmacokinetics and Biopharmaceutics 15, 1987).
 */
function isSame(estimate: Estimate): boolean {
  const { low, high } = intervalOf(estimate, 0.9);
  return low >= -Math.log(SAME_RATIO) && high <= Math.log(SAME_RATIO);
}

function counted(rounds: number): string {
  return rounds === 1 ? "1 round" : `${rounds} rounds`;
}

function inOrder(a: ComparedCell, b: ComparedCell): number {
  const rank = VERDICTS.indexOf(a.verdict) - VERDICTS.indexOf(b.verdict);
  if (rank !== 0) return rank;
  const size = (cell: ComparedCell) => Math.abs(Math.log(cell.ratio ?? 1));
  return size(b) - size(a) || (a.key < b.key ? -1 : 1);
}
