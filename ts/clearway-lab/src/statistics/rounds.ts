// SPDX-License-Identifier: MIT OR Apache-2.0
// Interleaved rounds: each round measures every mechanism once, in a new random order. If the machine becomes slower, it affects all
// mechanisms alike. The result is the ratio within a round: its median and its middle half.
import { median } from "./compare.js";
import { randomFrom, shuffled } from "./random.js";

export { median };

/** The median and the middle half of the figures of all rounds. */
export interface Spread {
  median: number;
  p25: number;
  p75: number;
  rounds: number;
}

/** Returns a function that shuffles a list, in another order on each call. The same `seed` gives the same orders. */
export function shuffler(seed: number): <T>(items: readonly T[]) => T[] {
  const random = randomFrom(seed);
  return (items) => shuffled(items, random);
}

/** Returns the value below which a share `q` of the numbers lies. Throws a RangeError if there are none. */
export function quantile(numbers: readonly number[], q: number): number {
  const sorted = Float64Array.from(numbers).sort();
  const found = sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
  if (found === undefined) throw new RangeError("quantile of nothing: numbers.length=0");
  return found;
}

export function spread(numbers: readonly number[]): Spread {
  return {
    median: median(numbers),
    p25: quantile(numbers, 0.25),
    p75: quantile(numbers, 0.75),
    rounds: numbers.length,
  };
}

/** Compares two series of one interleaved run, round by round. Rounds that the shorter series lacks do not count. */
export function ratio(a: readonly number[], b: readonly number[]): Spread {
  return spread(a.slice(0, b.length).map((value, round) => value / (b[round] as number)));
}

/** Returns the name of the series with the best median, or undefined if there is no series. */
export function bestOf(series: Record<string, readonly number[]>, sense: "low" | "high"): string | undefined {
  const sign = sense === "low" ? 1 : -1;
  const ranked = Object.entries(series).map(([name, numbers]) => [name, sign * median(numbers)] as const);
  return ranked.sort((a, b) => a[1] - b[1])[0]?.[0];
}
