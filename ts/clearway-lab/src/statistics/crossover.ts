// SPDX-License-Identifier: MIT OR Apache-2.0
// The crossover: the task size from which a strategy is faster than running inline, and stays so.

export interface SizePoint {
  ns: number;
  /** The strategy's time divided by the inline time; under 1 is faster. */
  ratio: number;
}

export type Crossover =
  | { kind: "from"; ns: number }
  /** Faster at every measured size. */
  | { kind: "everywhere" }
  /** Not faster at the largest measured size. */
  | { kind: "never" };

/**
 * Finds the crossover: interpolates between the last size at which the strategy was slower and the next, on a straight line
 * through the logarithms of both. Undefined without measurements. Sizes may come in any order.
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
