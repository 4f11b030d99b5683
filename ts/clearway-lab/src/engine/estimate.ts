// SPDX-License-Identifier: MIT OR Apache-2.0
// The estimator: from the costs of a slice to an answer, with Student's t distribution. All functions are pure.

/** The answer of a comparison. `slower`: the subject takes longer than the reference. */
export type Verdict = "faster" | "slower" | "no difference" | "open";

/** Two mechanisms that differ by less than this factor are called equal. */
export const EQUAL_WITHIN = 1.1;
/** A difference counts only if the whole interval is beyond this factor, because two processes of one program differ by as much. */
const BEYOND = 1.03;
/**
 * Coverage of the interval. Decisions are tried after each pair, so a wrong one has several chances: with 99 %, simulated equal arms are
 * told apart in at most 2 of 100 runs (test/engine/decisions.test.ts).
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

// Student's t distribution, for intervals and p-values from few rounds. The tail probability is an incomplete beta function
// (Abramowitz & Stegun, Handbook of Mathematical Functions, 1964, 26.5.27 and 26.7.1), calculated as a continued fraction
// (DLMF 8.17.22) by Lentz's method.

/** Above this number of degrees of freedom, the distribution equals the normal one in all digits that are printed. */
const DEGREES_MAX = 1e6;

/** Returns the probability that a Student-distributed number exceeds `t`. `degrees` are the degrees of freedom, above 0. */
function studentTail(t: number, degrees: number): number {
  if (!(degrees > 0)) throw new RangeError(`degrees of freedom must be above 0: degrees=${degrees}`);
  if (Number.isNaN(t)) throw new RangeError(`t must be a number: t=${t}`);
  const nu = Math.min(degrees, DEGREES_MAX);
  const half = t === Number.POSITIVE_INFINITY || t === Number.NEGATIVE_INFINITY ? 0 : 0.5 * betaOf(nu, t);
  return t >= 0 ? half : 1 - half;
}

/** Returns the number that a Student-distributed number exceeds with `probability`, which is between 0 and 1. */
function studentQuantile(probability: number, degrees: number): number {
  if (!(probability > 0 && probability < 1))
    throw new RangeError(`a probability must be between 0 and 1: probability=${probability}`);
  if (probability > 0.5) return -studentQuantile(1 - probability, degrees);
  let high = 1;
  while (studentTail(high, degrees) > probability && high < Number.MAX_VALUE / 2) high *= 2;
  let low = 0;
  for (let step = 0; step < 200; step++) {
    const middle = (low + high) / 2;
    if (studentTail(middle, degrees) > probability) low = middle;
    else high = middle;
  }
  return high;
}

/** Returns the regularised incomplete beta function at nu / (nu + t²) for a = nu / 2 and b = 1 / 2: both tails of Student's t. */
function betaOf(nu: number, t: number): number {
  const square = t * t;
  const x = nu / (nu + square);
  const rest = square / (nu + square);
  if (rest === 0) return 1;
  const [a, b] = [nu / 2, 0.5];
  const front = Math.exp(a * Math.log(x) + b * Math.log(rest) + logGamma(a + b) - logGamma(a) - logGamma(b));
  return x < (a + 1) / (a + b + 2) ? (front * fraction(x, a, b)) / a : 1 - (front * fraction(rest, b, a)) / b;
}

/** Calculates the continued fraction of the incomplete beta function. */
function fraction(x: number, a: number, b: number): number {
  const least = 1e-300;
  const held = (value: number) => (Math.abs(value) < least ? least : value);
  let c = 1;
  let d = 1 / held(1 - ((a + b) * x) / (a + 1));
  let result = d;
  for (let m = 1; m <= 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / held(1 + even * d);
    c = held(1 + even / c);
    result *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / held(1 + odd * d);
    c = held(1 + odd / c);
    result *= d * c;
    if (Math.abs(d * c - 1) < 1e-14) break;
  }
  return result;
}

/** Stirling's series with Lanczos' coefficients for g = 7 and nine terms. Exact to 15 digits for positive numbers. */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

function logGamma(value: number): number {
  const x = value - 1;
  const base = x + 7.5;
  const sum = LANCZOS.slice(1).reduce((total, term, at) => total + term / (x + at + 1), LANCZOS[0]!);
  return 0.5 * Math.log(2 * Math.PI) + (x + 0.5) * Math.log(base) - base + Math.log(sum);
}
