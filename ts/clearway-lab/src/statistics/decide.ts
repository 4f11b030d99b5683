// SPDX-License-Identifier: MIT OR Apache-2.0
// Decides from the ratios of interleaved rounds whether one mechanism differs from another. The interval makes no assumption about the
// distribution: where the scheduler puts two threads gives ratios with two humps.

/** Fewer rounds decide nothing. The median of five ratios lies between the smallest and the largest in 15 of 16 cases. */
export const ROUNDS_MIN = 5;

/** The share of cases in which the interval contains the median: that of five rounds, their smallest and largest. */
const COVERAGE_MIN = 1 - 2 / 2 ** ROUNDS_MIN;

/**
 * Two mechanisms whose interval is within this factor of 1 are the same for an app. The noise floor does not widen it: a noisy run leaves
 * a question undecided, and does not show that there is no difference.
 */
export const SAME_RATIO = 1.1;

export type Verdict = "decided" | "no difference" | "undecided";

export interface Decision {
  verdict: Verdict;
  /** The median over the rounds of subject / reference. */
  ratio: number;
  /** The interval that contains the median in at least 15 of 16 cases, with five rounds or more; else the smallest and the largest. */
  low: number;
  high: number;
  rounds: number;
}

/**
 * Decides from one ratio for each round. `floor` is the factor by which two measurements of the same thing differ in this run, at least
 * 1: a difference within it is never decided. Undefined without ratios. Throws a RangeError if a ratio is not a positive number.
 */
export function decide(ratios: readonly number[], floor: number): Decision | undefined {
  const wrong = ratios.find((ratio) => !(ratio > 0 && Number.isFinite(ratio)));
  if (wrong !== undefined) throw new RangeError(`a ratio must be a positive number: ratio=${wrong}`);
  if (!(floor >= 1)) throw new RangeError(`a noise floor must be at least 1: floor=${floor}`);
  if (ratios.length === 0) return undefined;
  const sorted = [...ratios].sort((a, b) => a - b);
  const left = outside(sorted.length);
  const [low, high] = [sorted[left] as number, sorted[sorted.length - 1 - left] as number];
  const decision = { ratio: middle(sorted), low, high, rounds: sorted.length };
  return { verdict: verdictOf(decision, floor), ...decision };
}

function verdictOf({ low, high, rounds }: Omit<Decision, "verdict">, floor: number): Verdict {
  if (rounds < ROUNDS_MIN) return "undecided";
  if (low > floor || high < 1 / floor) return "decided";
  return low >= 1 / SAME_RATIO && high <= SAME_RATIO ? "no difference" : "undecided";
}

/** The number of values to leave out on each side of `n` sorted ones, so that the rest still has the coverage. */
function outside(n: number): number {
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

/** The median of sorted ratios; of two in the middle, the geometric mean, so that a ratio and its inverse weigh the same. */
function middle(sorted: readonly number[]): number {
  const at = sorted.length >> 1;
  const upper = sorted[at] as number;
  return sorted.length % 2 === 1 ? upper : Math.sqrt(upper * (sorted[at - 1] as number));
}
