// SPDX-License-Identifier: MIT OR Apache-2.0
// The estimator: from the costs of a slice to an answer. All functions are pure.
import { studentQuantile } from "../statistics/student.js";

/** The answer of a comparison. `slower`: the subject takes longer than the reference. */
export type Verdict = "faster" | "slower" | "no difference" | "open";

/** Two mechanisms that differ by less than this factor are called equal. */
export const EQUAL_WITHIN = 1.1;
/** A difference counts only if the whole interval is beyond this factor, because two processes of one program differ by as much. */
const BEYOND = 1.03;
/**
 * Coverage of the interval. Decisions are tried after each pair, so a wrong one has several chances: with 99 %, simulated equal arms are
 * told apart in at most 2 of 100 runs (test/engine-decisions.test.ts).
 */
const COVERAGE = 0.99;
/** The same where pairs lie in two groups, which few pairs may miss. */
const COVERAGE_TWO_GROUPS = 0.995;
/** Share of a slice's costs that is dropped at its beginning: the arm has just woken up, and its caches are cold. */
const SLICE_DROP = 0.2;

/**
 * Returns the cost of a slice: the lower quartile of its costs, which other programs disturb least, or the median where a delay is itself
 * the subject (`isPaced`).
 */
export function sliceCost(costsNs: readonly number[], isPaced: boolean): number {
  if (costsNs.length === 0) throw new RangeError("a slice needs a cost: costs=0");
  const kept = costsNs.slice(Math.floor(costsNs.length * SLICE_DROP));
  return quantile(kept, isPaced ? 0.5 : 0.25);
}

/** Returns a quantile by linear interpolation. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
  return low + (high - low) * (at - Math.floor(at));
}

/** Returns the mean without the lowest and the highest quarter. With fewer than four values, returns their mean. */
export function trimmedMean(values: readonly number[]): number {
  const cut = Math.floor(values.length / 4);
  const kept = [...values].sort((a, b) => a - b).slice(cut, values.length - cut);
  return kept.reduce((sum, value) => sum + value, 0) / kept.length;
}

export interface Interval {
  /** The ratio subject / reference, and the ends of its interval. */
  ratio: number;
  low: number;
  high: number;
}

/** Returns the interval from the log ratios of pairs. Needs two pairs. */
export function intervalOf(logs: readonly number[]): Interval {
  const { mean, deviation } = momentsOf(logs);
  return spread(mean, deviation, logs.length, coverageOf(logs));
}

/**
 * Returns the verdict that this interval allows. An interval that is within `EQUAL_WITHIN` and leaves out 1 may still become a small
 * difference; it is "no difference" only if it `isLast`, because no further pair will be measured.
 */
export function verdictOf({ low, high }: Interval, isLast: boolean): Verdict {
  if (low > BEYOND) return "slower";
  if (high < 1 / BEYOND) return "faster";
  if (low < 1 / EQUAL_WITHIN || high > EQUAL_WITHIN) return "open";
  return isLast || (low <= 1 && high >= 1) ? "no difference" : "open";
}

/** Whether the ratio is within its limit. `open`: the interval contains the limit. */
export type LimitVerdict = "held" | "missed" | "open";

export function limitVerdictOf({ low, high }: Interval, limit: number): LimitVerdict {
  if (high <= limit) return "held";
  return low > limit ? "missed" : "open";
}

/** Returns whether the interval answers the question, and the one about the `limit` if there is one. */
export function isAnswered(interval: Interval, isLast: boolean, limit: number | undefined): boolean {
  return verdictOf(interval, isLast) !== "open" && (limit === undefined || limitVerdictOf(interval, limit) !== "open");
}

/**
 * Returns how many further pairs would decide if they spread like those so far, or undefined if more than `most` pairs in all would be
 * needed.
 */
export function furtherPairs(logs: readonly number[], most: number, limit?: number): number | undefined {
  const { mean, deviation } = momentsOf(logs);
  for (let pairs = logs.length + 1; pairs <= most; pairs++)
    if (isAnswered(spread(mean, deviation, pairs, coverageOf(logs)), false, limit)) return pairs - logs.length;
  return undefined;
}

function momentsOf(logs: readonly number[]): { mean: number; deviation: number } {
  if (logs.length < 2) throw new RangeError(`an interval needs two pairs: pairs=${logs.length}`);
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const squares = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0);
  return { mean, deviation: Math.sqrt(squares / (logs.length - 1)) };
}

function spread(mean: number, deviation: number, pairs: number, coverage: number): Interval {
  const half = (quantileOfT(coverage, pairs - 1) * deviation) / Math.sqrt(pairs);
  return { ratio: Math.exp(mean), low: Math.exp(mean - half), high: Math.exp(mean + half) };
}

/** The quantiles that were needed so far: one takes 0.1 ms, and a plan asks for the same few again and again. */
const quantiles = new Map<string, number>();

function quantileOfT(coverage: number, degrees: number): number {
  const key = `${coverage} ${degrees}`;
  const known = quantiles.get(key) ?? studentQuantile((1 - coverage) / 2, degrees);
  quantiles.set(key, known);
  return known;
}

const coverageOf = (logs: readonly number[]): number => (hasTwoGroups(logs) ? COVERAGE_TWO_GROUPS : COVERAGE);

/** Returns whether the pairs lie in two groups: the widest gap is wider than both groups together. */
export function hasTwoGroups(logs: readonly number[]): boolean {
  const sorted = [...logs].sort((a, b) => a - b);
  const gaps = sorted.slice(1).map((log, at) => log - sorted[at]!);
  const widest = gaps.indexOf(Math.max(...gaps));
  const isLone = widest === 0 || widest === gaps.length - 1;
  return !isLone && gaps[widest]! > sorted[widest]! - sorted[0]! + (sorted.at(-1)! - sorted[widest + 1]!);
}
