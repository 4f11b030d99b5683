// SPDX-License-Identifier: MIT OR Apache-2.0
// Medians, and the ratios of two cells of one run, paired round by round.

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
