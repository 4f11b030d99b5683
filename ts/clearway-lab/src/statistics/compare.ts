// SPDX-License-Identifier: MIT OR Apache-2.0
// The ratios of two cells of one run, paired round by round, and the noise floor of an A/A pair, which measures the same mechanism as two
// cells.

/** Minimum noise floor. Two cells of an A/A pair may agree by chance. */
export const FLOOR_RATIO_MIN = 1.05;

export function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError("median of nothing: values.length=0");
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Returns the ratios of the rounds that both series have. Rounds are matched by their number, never by their position. */
export function pairedRatios(subject: ReadonlyMap<number, number>, reference: ReadonlyMap<number, number>): number[] {
  const ratios: number[] = [];
  for (const [round, value] of subject) {
    const other = reference.get(round);
    if (other !== undefined && value > 0 && other > 0) ratios.push(value / other);
  }
  return ratios;
}

/**
 * Returns the noise floor of an A/A pair: the largest ratio between any two of its measurements. They may be from either cell and any
 * round. The result is at least FLOOR_RATIO_MIN. Ratios within one round would not be enough: a wake-up may be fast in some rounds and
 * slow in others, and the two cells may agree in each round by chance. Returns undefined if a cell has no measurement.
 */
export function noiseFloor(
  first: ReadonlyMap<number, number>,
  second: ReadonlyMap<number, number>,
): number | undefined {
  const [a, b] = [first, second].map((cell) => [...cell.values()].filter((value) => value > 0)) as [number[], number[]];
  if (a.length === 0 || b.length === 0) return undefined;
  const all = [...a, ...b];
  return Math.max(FLOOR_RATIO_MIN, Math.max(...all) / Math.min(...all));
}
