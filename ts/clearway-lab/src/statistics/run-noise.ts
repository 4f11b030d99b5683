// SPDX-License-Identifier: MIT OR Apache-2.0
// How unchanged code differs between two runs, beyond what the rounds inside each run show. The rounds of a run cannot show it, because
// a run has one time of day, one temperature and one set of neighbours on the machine.

export interface Shift {
  /** Logarithm of the ratio between the runs. */
  log: number;
  /** Its standard error from the rounds. */
  error: number;
}

/** How two runs of the same code differ. */
export interface RunDifference {
  /** Logarithm of the ratio by which the whole machine was slower in B: the median of the shifts. */
  shift: number;
  /** Standard deviation of the cells around it, as a logarithm. */
  spread: number;
}

/**
 * Estimates both from the shifts of unchanged cells. The spread is an upper estimate, which is too small in one of ten cases: the
 * upper end of the Q-profile interval (Viechtbauer, Confidence intervals for the amount of heterogeneity in meta-analysis, Statistics
 * in Medicine 26, 2007), around the median instead of the mean, because a few odd cells do not move a median. It is the spread for which
 * the sum of (log - shift)² / (error² + spread²) is the tenth percentile of chi-squared. 0 if the errors alone explain the distances.
 */
export function differenceOfRuns(shifts: readonly Shift[]): RunDifference {
  const shift = medianOf(shifts.map(({ log }) => log));
  return { shift, spread: spreadAround(shift, shifts, chiSquaredTenth(shifts.length - 1)) };
}

/**
 * Returns the spread around the ratio 1, for shifts too few to tell how the whole machine differed: the mean estimate (Paule & Mandel,
 * Journal of Research of the National Bureau of Standards 87, 1982), because an upper estimate from few shifts has no limit.
 */
export function spreadAroundOne(shifts: readonly Shift[]): number {
  return spreadAround(0, shifts, shifts.length);
}

/** Returns the tenth percentile of chi-squared (Wilson & Hilferty, PNAS 17, 1931). */
function chiSquaredTenth(degrees: number): number {
  const part = 2 / (9 * degrees);
  return degrees < 1 ? 0 : degrees * Math.max(0, 1 - part - 1.2816 * Math.sqrt(part)) ** 3;
}

function spreadAround(centre: number, shifts: readonly Shift[], expected: number): number {
  const distances = shifts.map(({ log, error }) => ({ square: (log - centre) ** 2, error }));
  const excess = (spread: number) =>
    distances.reduce((sum, { square, error }) => sum + (square === 0 ? 0 : square / (error ** 2 + spread)), 0) -
    expected;
  if (expected <= 0 || !(excess(0) > 0)) return 0;
  let low = 0;
  let high = distances.reduce((sum, { square }) => sum + square, 0) / expected;
  for (let step = 0; step < 100; step++) {
    const middle = (low + high) / 2;
    if (excess(middle) > 0) low = middle;
    else high = middle;
  }
  return Math.sqrt(high);
}

function medianOf(values: readonly number[]): number {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
}
