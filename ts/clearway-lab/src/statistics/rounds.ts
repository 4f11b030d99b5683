// SPDX-License-Identifier: MIT OR Apache-2.0
// Medians and means of rounds, the ratios of two cells of one run, and the best of several ways in each round.

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

/** The times of one kind of work: by way, then by round. */
export type Times = ReadonlyMap<string, ReadonlyMap<number, number>>;

/**
 * Returns the way with the least time for each round, chosen from the other rounds, so that no measurement both chooses and compares: the
 * smallest of several noisy times is on average smaller than each of them. A single round is chosen from itself. Only ways that have all
 * rounds, with times above 0, can be the best: means over different rounds are not comparable.
 */
export function bestByOtherRounds(times: Times): Map<number, string> {
  const all = new Set([...times.values()].flatMap((byRound) => [...byRound.keys()]));
  const complete = [...times].filter(([, byRound]) => [...all].every((round) => (byRound.get(round) ?? 0) > 0));
  return new Map(
    complete.length === 0
      ? []
      : [...all].map((round) => {
          const others = all.size > 1 ? [...all].filter((each) => each !== round) : [round];
          return [round, leastOver(complete, others)];
        }),
  );
}

/** Returns the least way by geometric mean. A round that is slow for all ways then weighs no more than a fast one. */
function leastOver(
  ways: readonly (readonly [string, ReadonlyMap<number, number>])[],
  rounds: readonly number[],
): string {
  const means = ways.map(([, byRound]) => geometricMean(rounds.map((round) => byRound.get(round)!)));
  return ways[means.indexOf(Math.min(...means))]![0];
}
