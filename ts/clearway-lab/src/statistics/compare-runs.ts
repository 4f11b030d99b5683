// SPDX-License-Identifier: MIT OR Apache-2.0
// Estimates the ratio of one cell between two runs: the geometric mean of the rounds' ratios (Fleming & Wallace, How not to lie with
// statistics, Communications of the ACM 29, 1986) with its standard error and degrees of freedom.
import { effectiveSize, usedCorrelation } from "./effective-size.js";
import { bootstrapError, type RoundFigure } from "./resample.js";
import { studentQuantile, studentTail } from "./student.js";

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

/** Returns one figure for each round that both series have: the logarithm of b / a. Matches rounds by their numbers. */
export function pairRounds(a: readonly RoundFigure[], b: readonly RoundFigure[]): RoundFigure[] {
  const others = new Map(a.map((figure) => [figure.round, figure]));
  return b.flatMap(({ round, log, redrawn }) => {
    const other = others.get(round);
    if (other === undefined) return [];
    // The n-th redraw of one side with the n-th of the other: they are independent, and the sides may change places.
    const size = Math.max(redrawn.length, other.redrawn.length);
    const differences = Array.from(
      { length: size },
      (_, at) => (redrawn[at] ?? log) - (other.redrawn[at] ?? other.log),
    );
    return [{ round, log: log - other.log, redrawn: differences }];
  });
}

/** Estimates from paired rounds (`pairRounds`), at least two. `shared` is the correlation of neighbouring rounds in all cells. */
export function estimatePaired(pairs: readonly RoundFigure[], shared: number, random: () => number): Estimate {
  const { mean, error, effective } = meanOf(pairs, shared, random);
  return { log: mean, error, degrees: degreesOf(effective), effectiveRounds: effective };
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

/** Adds the noise between runs, a standard deviation with `degrees` degrees of freedom, to the error of an estimate. */
export function withRunNoise(estimate: Estimate, noise: number, degrees: number): Estimate {
  const parts = [
    { square: estimate.error ** 2, degrees: estimate.degrees },
    { square: noise ** 2, degrees },
  ];
  return { ...estimate, ...combined(parts) };
}

/** Returns the two-sided interval of the logarithm that contains the true one with probability `level`. */
export function intervalOf({ log, error, degrees }: Estimate, level: number): { low: number; high: number } {
  if (error === 0) return { low: log, high: log };
  const reach = studentQuantile((1 - level) / 2, degrees) * error;
  return { low: log - reach, high: log + reach };
}

/** Returns the p-value for "the true logarithm is at most `limit`". A small one is evidence that it is larger. */
export function probabilityAbove({ log, error, degrees }: Estimate, limit: number): number {
  if (error === 0) return log > limit ? 0 : 1;
  return studentTail((log - limit) / error, degrees);
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
