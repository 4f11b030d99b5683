// SPDX-License-Identifier: MIT OR Apache-2.0
// The crossover: from which size of a task on a strategy is quicker than doing it on the spot, and stays so.

export interface SizePoint {
  ns: number;
  /** The strategy's time over that on the spot; under 1 is quicker. */
  ratio: number;
}

export type Crossover =
  | { kind: "from"; ns: number }
  /** Quicker at every size that was measured. */
  | { kind: "everywhere" }
  /** Not quicker at the largest that was measured. */
  | { kind: "never" };

/**
 * Between the last size at which it was slower and the next it is read off a straight line through the logarithms of both.
 * Undefined where nothing was measured. Sizes may come in any order.
 */
export function crossoverOf(points: readonly SizePoint[]): Crossover | undefined {
  const sorted = [...points].sort((a, b) => a.ns - b.ns);
  const last = sorted.at(-1);
  if (last === undefined) return undefined;
  if (last.ratio >= 1) return { kind: "never" };
  const at = sorted.findLastIndex(({ ratio }) => ratio >= 1);
  const [slower, quicker] = [sorted[at], sorted[at + 1]];
  if (slower === undefined || quicker === undefined) return { kind: "everywhere" };
  const above = Math.log(slower.ratio);
  const share = above / (above - Math.log(quicker.ratio));
  return { kind: "from", ns: Math.exp(Math.log(slower.ns) + share * (Math.log(quicker.ns) - Math.log(slower.ns))) };
}
