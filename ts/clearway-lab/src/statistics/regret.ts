// SPDX-License-Identifier: MIT OR Apache-2.0
// Regret: a strategy's time divided by the best strategy's. The best of a round is chosen from the other rounds, so it is
// compared on measurements that did not choose it. The least of several noisy times is on average less than any of them:
// choosing and comparing on the same measurements shows regret that does not exist.
import { geometricMean } from "./compare.js";

/** Times of one work: by strategy, by round. */
export type Times = ReadonlyMap<string, ReadonlyMap<number, number>>;

export interface Regret {
  /** Geometric mean over the rounds of this strategy's time / that of the round's best. */
  ratio: number;
  ratioMin: number;
  ratioMax: number;
  rounds: number;
  /** False with only one round, where the best had to be chosen on the round that it is compared with. */
  chosenElsewhere: boolean;
}

export interface Regrets {
  /** Strategies without a round in common with the others are missing. */
  of: Map<string, Regret>;
  /** The strategy that each round is compared with. */
  best: Map<number, string>;
}

/**
 * Calculates regrets. Only strategies with every round can be the best, because means over different rounds cannot be compared.
 * The others are compared in the rounds that they have. Times of 0 and less are invalid and left out.
 */
export function regretsOf(times: Times): Regrets {
  const known = new Map([...times].map(([name, byRound]) => [name, positive(byRound)] as const));
  const most = Math.max(0, ...[...known.values()].map(({ size }) => size));
  const whole = [...known].filter(([, byRound]) => byRound.size === most && most > 0);
  const rounds = [...(whole[0]?.[1].keys() ?? [])].filter((round) => whole.every(([, byRound]) => byRound.has(round)));
  const chosenElsewhere = rounds.length > 1;
  const best = new Map<number, string>();
  for (const round of rounds) {
    const others = chosenElsewhere ? rounds.filter((each) => each !== round) : rounds;
    best.set(round, bestOn(whole, others));
  }
  const of = new Map<string, Regret>();
  for (const [name, byRound] of known) {
    const ratios = rounds.flatMap((round) => {
      const own = byRound.get(round);
      const least = known.get(best.get(round) ?? "")?.get(round);
      return own === undefined || least === undefined ? [] : [own / least];
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

/**
 * Returns the times without the round in which a run was cut short, because that round may lack the best strategy. Returns all
 * times if every strategy has the last round, or if there is no other.
 */
export function withoutCutRound(times: Times): Times {
  const all = [...times.values()];
  const rounds = new Set(all.flatMap((byRound) => [...byRound.keys()]));
  const last = Math.max(...rounds);
  if (rounds.size < 2 || all.every((byRound) => byRound.has(last))) return times;
  return new Map(
    [...times].map(([name, byRound]) => [name, new Map([...byRound].filter(([round]) => round !== last))]),
  );
}

/** Returns the best strategy by geometric mean, so that a round that is slow for all weighs no more than a fast one. */
function bestOn(candidates: readonly (readonly [string, ReadonlyMap<number, number>])[], rounds: number[]): string {
  let least = Number.POSITIVE_INFINITY;
  let name = "";
  for (const [candidate, byRound] of candidates) {
    const mean = geometricMean(rounds.map((round) => byRound.get(round) ?? Number.POSITIVE_INFINITY));
    if (mean < least) [least, name] = [mean, candidate];
  }
  return name;
}

function positive(byRound: ReadonlyMap<number, number>): Map<number, number> {
  return new Map([...byRound].filter(([, value]) => value > 0 && Number.isFinite(value)));
}
