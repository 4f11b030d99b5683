// SPDX-License-Identifier: MIT OR Apache-2.0
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
export function correlationOfNeighbours(series: readonly number[]): number | undefined {
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
export function usedCorrelation(series: readonly number[], shared: number): number {
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
export function effectiveSize(n: number, correlation: number): number {
  return (n * (1 - correlation)) / (1 + correlation);
}
