// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Returns the probability, 0 to 1, that an event waits longer than `overMs`.
 *
 * The event arrives at a random moment of the run. The result is exact, not sampled. An event waits longer than x if it arrives in a
 * stall, more than x before the stall's end. For stalls of length b, these moments last for the sum of max(0, b - x).
 *
 * The meter does not record stalls under its `floorMs`. For an `overMs` under `floorMs`, the result is therefore a lower bound.
 */
export function waitProbability(lengthsMs: readonly number[], durationMs: number, overMs: number): number {
  if (durationMs <= 0) return 0;
  let beyondMs = 0;
  for (const length of lengthsMs) beyondMs += Math.max(0, length - overMs);
  return Math.min(1, beyondMs / durationMs);
}

/**
 * Returns the mean wait of an event that arrives at a random moment: the sum of b^2 / 2T. The event arrives in a stall of length b with
 * probability b / T, and then waits b / 2 on average. T is the length of the run.
 *
 * Stalls under the meter's `floorMs` are not recorded. These stalls add at most half of `floorMs` to the true mean.
 */
export function lagMean(lengthsMs: readonly number[], durationMs: number): number {
  if (durationMs <= 0) return 0;
  let squares = 0;
  for (const length of lengthsMs) squares += length * length;
  return squares / (2 * durationMs);
}
