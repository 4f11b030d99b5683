// SPDX-License-Identifier: MIT OR Apache-2.0
// The regret of a strategy: its time divided by the time of the best strategy. The best strategy for a round is chosen from the other
// rounds, so that no measurement both chooses and compares. The smallest of several noisy times is on average smaller than each of them.
// Choosing and comparing with the same measurements would therefore show a regret that does not exist.
import { geometricMean } from "./compare.js";

/** The times of one kind of work: by strategy, then by round. */
export type Times = ReadonlyMap<string, ReadonlyMap<number, number>>;

export interface Regret {
  /** Geometric mean over the rounds of this strategy's time / the time of the round's best strategy. */
  ratio: number;
  ratioMin: number;
  ratioMax: number;
  rounds: number;
  /** Whether the best strategy was chosen from other rounds than those it is compared in. False if there is only one round. */
  chosenElsewhere: boolean;
}

export interface Regrets {
  /** The regrets by strategy. Strategies without a common round with the others are missing. */
  of: Map<string, Regret>;
  /** The strategy that each round is compared with. */
  best: Map<number, string>;
}

/**
 * Calculates regrets. Only strategies with every round can be the best, because means over different rounds are not comparable. The other
 * strategies are compared in the rounds that they have. Times of 0 or less are invalid and left out.
 */
export function regretsOf(times: Times): Regrets {
  const valid = new Map([...times].map(([name, byRound]) => [name, validTimes(byRound)] as const));
  const roundsMax = Math.max(0, ...[...valid.values()].map(({ size }) => size));
  const complete = [...valid].filter(([, byRound]) => byRound.size === roundsMax && roundsMax > 0);
  const rounds = [...(complete[0]?.[1].keys() ?? [])].filter((round) =>
    complete.every(([, byRound]) => byRound.has(round)),
  );
  const chosenElsewhere = rounds.length > 1;
  const best = new Map<number, string>();
  for (const round of rounds) {
    const others = chosenElsewhere ? rounds.filter((each) => each !== round) : rounds;
    best.set(round, bestStrategyOver(complete, others));
  }
  const of = new Map<string, Regret>();
  for (const [name, byRound] of valid) {
    const ratios = rounds.flatMap((round) => {
      const own = byRound.get(round);
      const bestTime = valid.get(best.get(round) ?? "")?.get(round);
      return own === undefined || bestTime === undefined ? [] : [own / bestTime];
    });
    if (ratios.length === 0) continue;
    const ratio = geometricMean(ratios);
    of.set(name, {
      ratio,
      ratioMin: Math.min(...ratios),
      ratioMax: Math.max(...ratios),
      rounds: ratios.length,
      chosenElsewhere,
    });
  }
  return { of, best };
}

/** Returns the best strategy by geometric mean. A round that is slow for all strategies then weighs no more than a fast one. */
function bestStrategyOver(
  candidates: readonly (readonly [string, ReadonlyMap<number, number>])[],
  rounds: number[],
): string {
  let leastMean = Number.POSITIVE_INFINITY;
  let name = "";
  for (const [candidate, byRound] of candidates) {
    const mean = geometricMean(rounds.map((round) => byRound.get(round) ?? Number.POSITIVE_INFINITY));
    if (mean < leastMean) [leastMean, name] = [mean, candidate];
  }
  return name;
}

function validTimes(byRound: ReadonlyMap<number, number>): Map<number, number> {
  return new Map([...byRound].filter(([, value]) => value > 0 && Number.isFinite(value)));
}
