// SPDX-License-Identifier: MIT OR Apache-2.0
import type { TailQuantile } from "../report.js";

/** The minimum number of expected samples beyond a quantile. With fewer, the quantile depends more on chance than on the app. */
export const samplesBeyondMin = 20;

/** Returns the nearest-rank quantile of an ascending list. Returns `null` if the list is too short for that quantile. */
export function quantile(sorted: readonly number[], q: number): number | null {
  // The allowance compensates for the rounding of 1 - q: 200 * (1 - 0.9) is 19.999999999999996.
  if (sorted.length * (1 - q) + 1e-9 < samplesBeyondMin) return null;
  return sorted[Math.max(0, Math.ceil(sorted.length * q - 1e-9) - 1)]!;
}

export function tail(lengthsMs: readonly number[], quantiles = [0.5, 0.9, 0.99, 0.999]): TailQuantile[] {
  const sorted = [...lengthsMs].sort((a, b) => a - b);
  return quantiles.map((q) => ({ quantile: q, lengthMs: quantile(sorted, q) }));
}
