// SPDX-License-Identifier: MIT OR Apache-2.0
// Frames of a display: how many were dropped, in whole numbers, and the largest size whose time fits one.

/** Rounds a number of frames, because a frame is dropped or not: the median of two rounds may be half a frame. Leaves other units alone. */
export function wholeFrames(unit: string | undefined, number: number): number {
  return unit === "frames" ? Math.round(number) : number;
}

// The budget: the largest size whose time fits a limit, such as a frame.

export interface TimeAtSize {
  /** Size of the payload, in any unit. */
  size: number;
  ms: number;
}

export type Budget =
  /** The time exceeds the limit from about this size on. It lies between two measured sizes. */
  | { kind: "about"; size: number }
  /** Every measured size fits. `size` is the largest of them. */
  | { kind: "at least"; size: number }
  /** No measured size fits. `size` is the smallest of them. */
  | { kind: "less than"; size: number };

/**
 * Returns the budget, or undefined without measurements. It ends at the first size that does not fit, even if a larger one fits by chance.
 * Between two measured sizes, it interpolates on a straight line through the logarithms of size and time. It never extrapolates. Of several
 * times of one size, the longest counts.
 */
export function budgetOf(points: readonly TimeAtSize[], limitMs: number): Budget | undefined {
  const longest = new Map<number, number>();
  for (const { size, ms } of points) longest.set(size, Math.max(ms, longest.get(size) ?? 0));
  const sorted = [...longest].sort(([a], [b]) => a - b);
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const at = sorted.findIndex(([, ms]) => ms > limitMs);
  if (at < 0) return { kind: "at least", size: last[0] };
  const [above, below] = [sorted[at], sorted[at - 1]];
  if (above === undefined || below === undefined) return { kind: "less than", size: first[0] };
  const [[smaller, shorterMs], [larger, longerMs]] = [below, above];
  if (smaller <= 0 || shorterMs <= 0) return { kind: "about", size: smaller };
  // Differences of logarithms, because a quotient of a very short time is infinite.
  const share = (Math.log(limitMs) - Math.log(shorterMs)) / (Math.log(longerMs) - Math.log(shorterMs));
  const size = Math.exp(Math.log(smaller) + share * Math.log(larger / smaller));
  return { kind: "about", size: Math.min(larger, Math.max(smaller, size)) };
}
