// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares two cells of one run. The ratios are paired round by round and compared with the noise floor of an A/A
// pair, which measures the same mechanism as two cells.

export interface Comparison {
  /** Geometric mean over the rounds of subject / reference. 0.5 means that the subject takes half as long. */
  ratio: number;
  ratioMin: number;
  ratioMax: number;
  rounds: number;
  /** "no difference seen" unless the mean ratio exceeds the noise floor and all rounds differ in the same direction. */
  verdict: "lower" | "higher" | "no difference seen";
}

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

/** Compares two series. Returns undefined if no round has both. */
export function compare(
  subject: ReadonlyMap<number, number>,
  reference: ReadonlyMap<number, number>,
  floorRatio: number,
): Comparison | undefined {
  const ratios = pairedRatios(subject, reference);
  if (ratios.length === 0) return undefined;
  const ratio = geometricMean(ratios);
  const sameDirection = ratios.every((each) => each > 1) || ratios.every((each) => each < 1);
  const exceedsFloor = Math.max(ratio, 1 / ratio) > Math.max(floorRatio, FLOOR_RATIO_MIN);
  const verdict = sameDirection && exceedsFloor ? (ratio < 1 ? "lower" : "higher") : "no difference seen";
  return { ratio, ratioMin: Math.min(...ratios), ratioMax: Math.max(...ratios), rounds: ratios.length, verdict };
}
