// SPDX-License-Identifier: MIT OR Apache-2.0
// The crossover: the size of a task from which a strategy is faster than running inline, at this size and all larger ones.

export interface SizePoint {
  ns: number;
  /** The strategy's time divided by the inline time. Below 1, the strategy is faster. */
  ratio: number;
}

export type Crossover =
  | { kind: "from"; ns: number }
  /** The strategy is faster at every measured size. */
  | { kind: "everywhere" }
  /** The strategy is not faster at the largest measured size. */
  | { kind: "never" };

/**
 * Finds the crossover. Interpolates between the last size at which the strategy was slower and the next size, on a straight line through
 * the logarithms of size and ratio. Returns undefined without measurements. The sizes may have any order.
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
