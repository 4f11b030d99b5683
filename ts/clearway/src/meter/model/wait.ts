// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Returns the probability, 0 to 1, that an event waits longer than `overMs`.
 *
 * The event arrives at a random moment of the run. The result is exact, not sampled. An event waits longer than x if it arrives in a
 * stall, more than x before the stall's end. These arrivals make up sum max(0, b - x) of the run.
 *
 * Stalls below the meter's floor are not recorded, so an `overMs` under the floor gives a lower bound.
 */
export function waitProbability(lengthsMs: readonly number[], durationMs: number, overMs: number): number {
  if (durationMs <= 0) return 0;
  let beyondMs = 0;
  for (const length of lengthsMs) beyondMs += Math.max(0, length - overMs);
  return Math.min(1, beyondMs / durationMs);
}

/**
 * Returns the mean wait of an event that arrives at a random moment: sum of b^2 / 2T. The event meets stall b with probability b / T, and
 * then waits b / 2 on average.
 *
 * Unrecorded stalls (all shorter than the floor) can add at most half the floor to the true figure.
 */
export function lagMean(lengthsMs: readonly number[], durationMs: number): number {
  if (durationMs <= 0) return 0;
  let squares = 0;
  for (const length of lengthsMs) squares += length * length;
  return squares / (2 * durationMs);
}
