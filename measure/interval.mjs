// SPDX-License-Identifier: MIT OR Apache-2.0
// Calculates the median of a few samples, the interval of the median, and whether a limit is kept.

/** Minimum probability that an interval contains the true median. */
const coverageMin = 0.95;

/** Returns P(X <= k) for a binomial X with n trials of probability one half. `intervalOf` calculates ranks around a median from it. */
function atMostHeads(k, n) {
  let term = 2 ** -n;
  let sum = 0;
  for (let at = 0; at <= k; at++) {
    sum += term;
    term *= (n - at) / (at + 1);
  }
  return sum;
}

/**
 * Returns `{ median, low, high, coverage, n }` of the samples, which may be infinite. `low` and `high` are two of the sorted samples, at
 * symmetric ranks. The ranks are the narrowest that contain the true median in at least 95 of 100 cases, for any distribution. With fewer
 * than six samples, they are the extremes. `coverage` is the probability. Throws `RangeError` if there are no samples.
 */
export function intervalOf(samples) {
  const n = samples.length;
  if (n === 0) throw new RangeError("an interval needs at least one sample: samples=0");
  const sorted = [...samples].sort((a, b) => a - b);
  let rank = 1;
  while (rank + 1 <= Math.ceil(n / 2) && 1 - 2 * atMostHeads(rank, n) >= coverageMin) rank++;
  const middle = n % 2 === 1 ? sorted[(n - 1) / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
  const coverage = Math.max(0, 1 - 2 * atMostHeads(rank - 1, n));
  return { median: middle, low: sorted[rank - 1], high: sorted[n - rank], coverage, n };
}

/**
 * Returns "kept" if the whole interval is on the required side of the limit, and "out" if it is completely on the other side. Otherwise
 * returns "undecided": the noise is larger than the distance to the limit.
 */
export function verdictOf({ low, high }, { sense, limit }) {
  const [best, worst] = sense === "at most" ? [low, high] : [-high, -low];
  const bound = sense === "at most" ? limit : -limit;
  if (worst <= bound) return "kept";
  return best > bound ? "out" : "undecided";
}
