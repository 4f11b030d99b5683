// SPDX-License-Identifier: MIT OR Apache-2.0
// Interleaved rounds: each round measures every subject once, in a new random order, so that a machine that becomes slower affects all
// subjects. The result is the ratio within a round: its median and middle half.

/** Returns a function that shuffles a list in a repeatable random order (mulberry32). */
export function shuffler(seed) {
  let state = seed >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return (items) => {
    const order = [...items];
    for (let at = order.length - 1; at > 0; at--) {
      const other = Math.floor(random() * (at + 1));
      [order[at], order[other]] = [order[other], order[at]];
    }
    return order;
  };
}

/** Returns the value below which a share `q` of the numbers lies. */
export function quantile(numbers, q) {
  const sorted = Float64Array.from(numbers).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

export const median = (numbers) => quantile(numbers, 0.5);

/** Returns median and middle half. */
export function spread(numbers) {
  return {
    median: median(numbers),
    p25: quantile(numbers, 0.25),
    p75: quantile(numbers, 0.75),
    rounds: numbers.length,
  };
}

/** Compares two series of one interleaved run, round by round. */
export function ratio(a, b) {
  return spread(a.slice(0, b.length).map((value, round) => value / b[round]));
}

/** Returns the name of the series with the best median. `sense` says whether low or high is good. */
export function bestOf(series, sense) {
  const ranked = Object.entries(series).map(([name, numbers]) => [name, median(numbers)]);
  ranked.sort((a, b) => (sense === "low" ? a[1] - b[1] : b[1] - a[1]));
  return ranked[0]?.[0];
}

const quantiles = { p1: 0.01, p10: 0.1, p50: 0.5, p90: 0.9, p99: 0.99, p999: 0.999 };

/** Returns all samples as the figures of results.json. A quantile with fewer than 20 samples beyond it is `unsupported`. */
export function distribution(samples, unit) {
  const sorted = Float64Array.from(samples).sort();
  const n = sorted.length;
  const at = (q) => round(sorted[Math.min(n - 1, Math.floor(q * n))]);
  const unsupported = Object.keys(quantiles).filter((name) => n * Math.min(quantiles[name], 1 - quantiles[name]) < 20);
  return {
    unit,
    n,
    min: round(sorted[0]),
    mean: round(sorted.reduce((sum, each) => sum + each, 0) / n),
    ...Object.fromEntries(Object.entries(quantiles).map(([name, q]) => [name, at(q)])),
    max: round(sorted[n - 1]),
    ...(unsupported.length > 0 ? { unsupported } : {}),
  };
}

/** Rounds to four significant digits: no clock here can measure more. */
export const round = (value) => Number(value.toPrecision(4));
