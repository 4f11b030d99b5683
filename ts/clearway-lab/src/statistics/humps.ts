// SPDX-License-Identifier: MIT OR Apache-2.0
// Two humps: the rounds of a cell fall into a fast and a slow group, for example because the scheduler puts two threads on one core in
// some rounds. If all rounds of one run happen to be in one group and all rounds of the other run in the other one, equal code looks
// different, and no interval from those rounds shows it. The humps that are visible in other cells tell how probable that is.

/** Minimum distance between two groups, as a multiple of the spread inside them. */
const GAP_MIN = 3;
/** Minimum spread inside a group that is taken into account: histograms and clocks round to about 1 %. */
const SPREAD_MIN = 0.01;
/**
 * What is known before, from six kept runs: half a hump of any size in ten series (21 of 474 had humps of 10 % or more), and four changes
 * of the group in eight rounds (68 in 132). It counts as little as these numbers of observations.
 */
const PRIOR = { humps: 0.5, series: 10, changes: 4, rounds: 8 };
/** A hump counts for a difference from this share of it on, because the rest may be ordinary noise. */
const SHARE_OF_DIFFERENCE = 0.7;

export interface Humps {
  /** Number of series that were searched. */
  series: number;
  /** Distances of the two groups of each series with two groups, as logarithms. */
  sizes: number[];
  /** How long a cell stays in a group: weights of the possible values of `stays`. */
  persistence: Persistence[];
}

/**
 * One possible persistence. A round is in the same group as the round before with probability (1 + stays) / 2: with 0, rounds do not
 * depend on each other. Both groups are equally probable, which is the least favourable case.
 */
interface Persistence {
  stays: number;
  weight: number;
  /** Probability that a series with two groups shows at least two rounds of each. */
  visible: number;
}

/** The values of `stays` that are considered. */
const STAYS = Array.from({ length: 20 }, (_, at) => at / 20);

/** Finds the humps in series of logarithms. Each group needs two rounds, so that a single disturbed round is none. */
export function humpsOf(all: readonly (readonly number[])[]): Humps {
  const searched = all.filter((logs) => logs.length >= 4);
  const sizes: number[] = [];
  const chains: { rounds: number; changes: number }[] = [];
  for (const logs of searched) {
    const found = humpOf(logs);
    if (found === undefined) continue;
    sizes.push(found.size);
    const slow = logs.map((log) => log > found.cut);
    chains.push({ rounds: slow.length, changes: slow.filter((each, at) => at > 0 && each !== slow[at - 1]).length });
  }
  return {
    series: searched.length,
    sizes,
    persistence: persistenceOf(
      chains,
      searched.map(({ length }) => length),
    ),
  };
}

/** Weighs the possible persistences by how well they explain the observed chains, given that these were visible (Bayes' rule). */
function persistenceOf(
  chains: readonly { rounds: number; changes: number }[],
  lengths: readonly number[],
): Persistence[] {
  const counts = new Map<number, number>();
  for (const length of lengths) counts.set(length, (counts.get(length) ?? 0) + 1);
  const found = STAYS.map((stays) => {
    const seen = new Map([...counts.keys()].map((rounds) => [rounds, visibility(rounds, stays)]));
    const logProbability = (changes: number, rounds: number) =>
      changes * Math.log((1 - stays) / 2) + (rounds - changes) * Math.log((1 + stays) / 2);
    let logWeight = logProbability(PRIOR.changes, PRIOR.rounds);
    for (const { rounds, changes } of chains)
      logWeight += logProbability(changes, rounds - 1) - Math.log(seen.get(rounds)!);
    const visible =
      [...counts].reduce((sum, [rounds, count]) => sum + count * seen.get(rounds)!, 0) / Math.max(1, lengths.length);
    return { stays, logWeight, visible };
  });
  const most = Math.max(...found.map(({ logWeight }) => logWeight));
  const total = found.reduce((sum, { logWeight }) => sum + Math.exp(logWeight - most), 0);
  return found.map(({ stays, logWeight, visible }) => ({ stays, weight: Math.exp(logWeight - most) / total, visible }));
}

/** Returns the probability that each group has at least two of the rounds. */
function visibility(rounds: number, stays: number): number {
  // ways[group of the last round][number of slow rounds so far]
  let ways: number[][] = [0, 1].map((group) =>
    Array.from({ length: rounds + 1 }, (_, slow) => (slow === group ? 0.5 : 0)),
  );
  for (let round = 1; round < rounds; round++) {
    ways = [0, 1].map((group) =>
      Array.from({ length: rounds + 1 }, (_, slow) => {
        const before = slow - group;
        if (before < 0) return 0;
        const [same, other] = [ways[group]![before]!, ways[1 - group]![before]!];
        return (same * (1 + stays) + other * (1 - stays)) / 2;
      }),
    );
  }
  let sum = 0;
  for (let slow = 2; slow <= rounds - 2; slow++) sum += ways[0]![slow]! + ways[1]![slow]!;
  return sum;
}

/** Finds the largest gap between neighbours in order, with two values or more on each side. */
function humpOf(logs: readonly number[]): { size: number; cut: number } | undefined {
  const sorted = [...logs].sort((a, b) => a - b);
  let at = 2;
  for (let each = 3; each <= sorted.length - 2; each++) if (gap(sorted, each) > gap(sorted, at)) at = each;
  const groups = [sorted.slice(0, at), sorted.slice(at)] as const;
  const [low, high] = groups.map((group) => group.reduce((sum, log) => sum + log, 0) / group.length) as [
    number,
    number,
  ];
  const squares =
    groups[0].reduce((sum, log) => sum + (log - low) ** 2, 0) +
    groups[1].reduce((sum, log) => sum + (log - high) ** 2, 0);
  const spread = Math.max(SPREAD_MIN, Math.sqrt(squares / (sorted.length - 2)));
  if (gap(sorted, at) < GAP_MIN * spread) return undefined;
  return { size: high - low, cut: (sorted[at - 1]! + sorted[at]!) / 2 };
}

const gap = (sorted: readonly number[], at: number) => sorted[at]! - sorted[at - 1]!;

/**
 * Returns the probability that a cell of equal code differs by `difference` (a logarithm above 0) because it has two humps, and its
 * `roundsA` and `roundsB` rounds are each in one group, but not in the same one.
 */
export function probabilityOfHumps(humps: Humps, difference: number, roundsA: number, roundsB: number): number {
  const large = humps.sizes.filter((size) => size >= difference * SHARE_OF_DIFFERENCE).length;
  const seen = (large + PRIOR.humps) / (humps.series + PRIOR.series);
  let probability = 0;
  for (const { stays, weight, visible } of humps.persistence) {
    const share = Math.min(1, seen / visible);
    const inOne = (rounds: number) => 0.5 * ((1 + stays) / 2) ** (rounds - 1);
    probability += weight * share * 2 * inOne(roundsA) * inOne(roundsB);
  }
  return probability;
}
