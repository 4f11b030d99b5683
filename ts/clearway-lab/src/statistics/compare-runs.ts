// SPDX-License-Identifier: MIT OR Apache-2.0
// Estimates the ratio of one cell between two runs: the geometric mean of the rounds' ratios (Fleming & Wallace, How not to lie with
// statistics, Communications of the ACM 29, 1986) with its standard error and degrees of freedom.
import { studentQuantile } from "./student.js";

/** An estimate of the logarithm of B's figure / A's figure. */
export interface Estimate {
  log: number;
  /** Standard error of `log`. */
  error: number;
  /** Degrees of freedom of `error`. */
  degrees: number;
  /** Number of the rounds that count as independent: the effective sample size, of the smaller side if unpaired. */
  effectiveRounds: number;
}

/** Estimates from two series of at least two rounds each that are not paired (Welch, Biometrika 34, 1947). */
export function estimateUnpaired(
  a: readonly RoundFigure[],
  b: readonly RoundFigure[],
  shared: readonly [number, number],
  /** One generator per series, so that the series may change places. */
  random: readonly [() => number, () => number],
): Estimate {
  const first = meanOf(a, shared[0], random[0]);
  const second = meanOf(b, shared[1], random[1]);
  const parts = [first, second].map(({ error, effective }) => ({ square: error ** 2, degrees: degreesOf(effective) }));
  return {
    log: second.mean - first.mean,
    ...combined(parts),
    effectiveRounds: Math.min(first.effective, second.effective),
  };
}

/** Returns the two-sided interval of the logarithm that contains the true one with probability `level`. */
export function intervalOf({ log, error, degrees }: Estimate, level: number): { low: number; high: number } {
  if (error === 0) return { low: log, high: log };
  const reach = studentQuantile((1 - level) / 2, degrees) * error;
  return { low: log - reach, high: log + reach };
}

function meanOf(figures: readonly RoundFigure[], shared: number, random: () => number) {
  const logs = figures.map(({ log }) => log);
  const effective = effectiveSize(logs.length, usedCorrelation(logs, shared));
  // The bootstrap draws rounds independently. Their correlation makes the error larger by this factor.
  const error = bootstrapError(figures, random) * Math.sqrt(logs.length / effective);
  return { mean: logs.reduce((sum, log) => sum + log, 0) / logs.length, error, effective };
}

const degreesOf = (effective: number) => Math.max(1, effective - 1);

/** Adds variances. The degrees of freedom of the sum are Satterthwaite's (Biometrics Bulletin 2, 1946). */
function combined(parts: readonly { square: number; degrees: number }[]): { error: number; degrees: number } {
  const whole = parts.reduce((sum, { square }) => sum + square, 0);
  const weights = parts.reduce((sum, { square, degrees }) => sum + square ** 2 / degrees, 0);
  const fewest = Math.min(...parts.map(({ degrees }) => degrees));
  return { error: Math.sqrt(whole), degrees: weights === 0 ? fewest : whole ** 2 / weights };
}

// The effective sample size: how many independent rounds tell as much as the rounds of a run, which may resemble their neighbours.

/**
 * The number of rounds that the mean correlation of all cells is worth against a cell's own. A correlation from ten rounds is mostly
 * chance: its standard error is about 0.3.
 */
const SHARED_WEIGHT = 20;

/** Upper limit of a correlation. Beyond it, no number of rounds of a run tells anything. */
const CORRELATION_MAX = 0.9;

/**
 * Returns the correlation of each number with the next one. Adds 1 / n, by which the estimate is too small on average for independent
 * numbers (Marriott & Pope, Bias in the estimation of autocorrelations, Biometrika 41, 1954). Returns undefined for fewer than
 * three numbers or equal ones.
 */
function correlationOfNeighbours(series: readonly number[]): number | undefined {
  const n = series.length;
  if (n < 3) return undefined;
  const mean = series.reduce((sum, value) => sum + value, 0) / n;
  const square = series.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  if (square === 0) return undefined;
  let product = 0;
  for (let at = 1; at < n; at++) product += (series[at - 1]! - mean) * (series[at]! - mean);
  return product / square + 1 / n;
}

/** Returns the mean correlation of neighbours of all series, weighted by their lengths. Returns 0 without one. */
export function sharedCorrelation(all: readonly (readonly number[])[]): number {
  let sum = 0;
  let weight = 0;
  for (const series of all) {
    const own = correlationOfNeighbours(series);
    if (own === undefined) continue;
    sum += own * series.length;
    weight += series.length;
  }
  return weight === 0 ? 0 : sum / weight;
}

/** Returns the correlation for one series: its own, drawn towards the shared one, between 0 and `CORRELATION_MAX`. */
function usedCorrelation(series: readonly number[], shared: number): number {
  const own = correlationOfNeighbours(series);
  const n = series.length;
  const mixed = own === undefined ? shared : (own * n + shared * SHARED_WEIGHT) / (n + SHARED_WEIGHT);
  return Math.min(CORRELATION_MAX, Math.max(0, mixed));
}

/**
 * Returns the effective size of `n` numbers, each of which depends on its predecessor with `correlation` (a first-order autoregression):
 * n (1 - r) / (1 + r) (Bayley & Hammersley, The "effective" number of independent observations in an autocorrelated time series, Supplement
 * to the Journal of the Royal Statistical Society 8, 1946).
 */
function effectiveSize(n: number, correlation: number): number {
  return (n * (1 - correlation)) / (1 + correlation);
}

/** A round's figure as logarithms. */
export interface RoundFigure {
  log: number;
  /** The figure after drawing the round's samples again, once per entry. Empty for a single value, which has no samples. */
  redrawn: readonly number[];
}

/** How often the samples of a round are drawn again. The bootstrap then picks among these. */
export const REDRAWS = 32;

/** How often the rounds are drawn again. The standard error is then exact to about 2 %. */
const RESAMPLES = 1000;

/**
 * Returns the bootstrap's standard error of the mean of `rounds`. Multiplies by the square root of n / (n - 1), because resampling
 * n numbers shows too small an error (Hesterberg, What teachers should know about the bootstrap, The American Statistician 69,
 * 2015). Throws a RangeError for fewer than two rounds.
 */
export function bootstrapError(rounds: readonly RoundFigure[], random: () => number, resamples = RESAMPLES): number {
  const n = rounds.length;
  if (n < 2) throw new RangeError(`a bootstrap needs two rounds: rounds.length=${n}`);
  let sum = 0;
  let squares = 0;
  // Subtracting a constant keeps the digits of the squares.
  const origin = rounds[0]!.log;
  for (let resample = 0; resample < resamples; resample++) {
    let total = 0;
    for (let draw = 0; draw < n; draw++) {
      const { log, redrawn } = rounds[Math.floor(random() * n)]!;
      total += (redrawn.length === 0 ? log : redrawn[Math.floor(random() * redrawn.length)]!) - origin;
    }
    sum += total / n;
    squares += (total / n) ** 2;
  }
  const variance = Math.max(0, squares / resamples - (sum / resamples) ** 2);
  return Math.sqrt((variance * n) / (n - 1));
}
