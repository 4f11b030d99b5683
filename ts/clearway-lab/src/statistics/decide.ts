// SPDX-License-Identifier: MIT OR Apache-2.0
// Decides from the ratios of interleaved rounds whether one mechanism differs from another. The interval makes no assumption about the
// distribution. The ratios may have two humps, because they depend on the cores on which the scheduler runs the two threads.

import { FLOOR_RATIO_MIN } from "./compare.js";

/** Minimum number of rounds for a decision. The true median lies between the smallest and largest of five rounds in 15 of 16 cases. */
export const ROUNDS_MIN = 5;

/** Minimum probability that the interval contains the median: the probability for the smallest and largest of five rounds. */
const COVERAGE_MIN = 1 - 2 / 2 ** ROUNDS_MIN;

/**
 * If the whole interval is within this factor of 1, two mechanisms are the same for an app. A large noise floor does not widen this
 * range: a noisy run leaves the question undecided and does not show that there is no difference.
 */
export const SAME_RATIO = 1.1;

/** The noise floor of a comparison whose noise was not measured. Only differences far beyond any usual noise are decided then. */
export const FLOOR_UNKNOWN = 3;

export type Verdict = "decided" | "no difference" | "undecided";

export interface Decision {
  verdict: Verdict;
  /** The median of subject / reference over the rounds. */
  ratio: number;
  /**
   * The ends of the interval. With five rounds or more, the interval contains the median in at least 15 of 16 cases. With fewer, it goes
   * from the smallest to the largest ratio.
   */
  low: number;
  high: number;
  rounds: number;
  /** The noise floor that the interval had to exceed. Undefined if the noise was not measured; the limit is then `FLOOR_UNKNOWN`. */
  floor: number | undefined;
}

/**
 * Decides from one ratio per round. `floor` is the noise floor, a factor of at least 1 by which two measurements of the same thing differ
 * in this run; undefined if that was not measured. A difference within the floor is never decided. Returns undefined without ratios. Throws a RangeError if a ratio is not a
 * positive finite number or `floor` is below 1.
 */
export function decide(ratios: readonly number[], floor: number | undefined): Decision | undefined {
  const wrong = ratios.find((ratio) => !(ratio > 0 && Number.isFinite(ratio)));
  if (wrong !== undefined) throw new RangeError(`a ratio must be a positive number: ratio=${wrong}`);
  if (floor !== undefined && !(floor >= 1)) throw new RangeError(`a noise floor must be at least 1: floor=${floor}`);
  if (ratios.length === 0) return undefined;
  const sorted = [...ratios].sort((a, b) => a - b);
  const decision = { ratio: medianRatio(sorted), ...intervalOf(sorted), rounds: sorted.length, floor };
  return { verdict: verdictOf(decision), ...decision };
}

/**
 * Returns the noise floor of an A/A pair for decisions: the largest factor, in either direction, in the interval of its ratios. Two
 * measurements of the same thing in the same round then differ by less in most rounds. `ratios` has one ratio per round. Returns
 * `FLOOR_RATIO_MIN` without ratios.
 */
export function pairedFloor(ratios: readonly number[]): number {
  if (ratios.length === 0) return FLOOR_RATIO_MIN;
  const { low, high } = intervalOf([...ratios].sort((a, b) => a - b));
  return Math.max(FLOOR_RATIO_MIN, high, 1 / low);
}

/** Returns the interval of sorted ratios that contains their true median with the minimum coverage. */
function intervalOf(sorted: readonly number[]): { low: number; high: number } {
  const left = trimmedPerSide(sorted.length);
  return { low: sorted[left] as number, high: sorted[sorted.length - 1 - left] as number };
}

function verdictOf({ low, high, rounds, floor = FLOOR_UNKNOWN }: Omit<Decision, "verdict">): Verdict {
  if (rounds < ROUNDS_MIN) return "undecided";
  if (low > floor || high < 1 / floor) return "decided";
  return low >= 1 / SAME_RATIO && high <= SAME_RATIO ? "no difference" : "undecided";
}

/** Returns how many of `n` sorted values to leave out on each side, so that the interval of the others still has the coverage. */
function trimmedPerSide(n: number): number {
  let beyond = 0;
  let choose = 1;
  let left = 0;
  for (let k = 0; k < n / 2; k++) {
    beyond += choose / 2 ** n;
    if (1 - 2 * beyond < COVERAGE_MIN) break;
    left = k;
    choose = (choose * (n - k)) / (k + 1);
  }
  return left;
}

/**
 * Returns the median of sorted ratios. For an even number, it is the geometric mean of the middle two, so that a ratio and its inverse
 * weigh the same.
 */
function medianRatio(sorted: readonly number[]): number {
  const at = sorted.length >> 1;
  const upper = sorted[at] as number;
  return sorted.length % 2 === 1 ? upper : Math.sqrt(upper * (sorted[at - 1] as number));
}
