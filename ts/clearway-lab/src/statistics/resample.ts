// SPDX-License-Identifier: MIT OR Apache-2.0
// The hierarchical bootstrap: draws rounds with replacement and, inside each drawn round, its samples with replacement
// (Kalibera & Jones, Rigorous benchmarking in reasonable time, ISMM 2013; Davison & Hinkley, Bootstrap methods and their
// application, 1997, 3.8).
import type { Histogram } from "./histogram.js";

/** A round's figure as logarithms. */
export interface RoundFigure {
  round: number;
  log: number;
  /** The figure after drawing the round's samples again, once per entry. Empty for a single value, which has no samples. */
  redrawn: readonly number[];
}

/** How often the samples of a round are drawn again. The bootstrap then picks among these. */
export const REDRAWS = 32;

/** How often the rounds are drawn again. The standard error is then exact to about 2 %. */
const RESAMPLES = 1000;

/**
 * Draws the samples of a histogram again, `REDRAWS` times, and returns their quantile `q` each time. Drawing n samples with replacement
 * and taking the r-th smallest is the same as reading the histogram at a number from the distribution Beta(r, n - r + 1) (David & Nagaraja,
 * Order statistics, 2003, 2.1), which takes one reading instead of n. The order of the samples is lost in a histogram, so samples that
 * resemble their neighbours cannot be seen; the rounds show their effect.
 */
export function redrawnQuantiles(histogram: Histogram, q: number, random: () => number): number[] {
  const n = histogram.totalCount;
  const rank = Math.max(1, Math.ceil(q * n));
  return Array.from({ length: REDRAWS }, () => {
    const below = gammaFrom(rank, random);
    const above = gammaFrom(n - rank + 1, random);
    return histogram.getValueAtPercentile((below / (below + above)) * 100);
  });
}

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

/** Returns a number from the gamma distribution with `shape` of at least 1 (Marsaglia & Tsang, ACM TOMS 26, 2000). */
function gammaFrom(shape: number, random: () => number): number {
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normalFrom(random);
    const v = (1 + c * x) ** 3;
    if (v <= 0) continue;
    if (Math.log(1 - random()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** Returns a number from the standard normal distribution (Box & Muller, 1958). */
export function normalFrom(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
