// SPDX-License-Identifier: MIT OR Apache-2.0
// The crossover: the size of a task or payload from which one way is faster than the reference, at this size and all larger ones.

export interface SizePoint {
  size: number;
  /** The time divided by the reference's. Below 1, the way is faster. */
  ratio: number;
}

export type Crossover =
  | { kind: "from"; size: number }
  /** It is faster at every measured size. */
  | { kind: "everywhere" }
  /** It is not faster at the largest measured size. */
  | { kind: "never" };

/**
 * Finds the crossover. Interpolates between the last size at which the way was slower and the next size, on a straight line through
 * the logarithms of size and ratio. Returns undefined without measurements. The sizes may have any order.
 */
export function crossoverOf(points: readonly SizePoint[]): Crossover | undefined {
  const sorted = [...points].sort((a, b) => a.size - b.size);
  const last = sorted.at(-1);
  if (last === undefined) return undefined;
  if (last.ratio >= 1) return { kind: "never" };
  const at = sorted.findLastIndex(({ ratio }) => ratio >= 1);
  const [slower, quicker] = [sorted[at], sorted[at + 1]];
  if (slower === undefined || quicker === undefined) return { kind: "everywhere" };
  const above = Math.log(slower.ratio);
  const share = above / (above - Math.log(quicker.ratio));
  return { kind: "from", size: Math.exp(Math.log(slower.size) + share * Math.log(quicker.size / slower.size)) };
}
