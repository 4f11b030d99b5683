// SPDX-License-Identifier: MIT OR Apache-2.0
// Regret: a strategy's time over the best strategy's. The best of a round is chosen on the other rounds, and so on
// measurements that it is not compared on: the least of several noisy times is less than any of them is on average, and
// whoever chooses and compares on the same ones finds regret where there is none.
import { geometricMean } from "./compare.js";

/** Times of one work: by strategy, by round. */
export type Times = ReadonlyMap<string, ReadonlyMap<number, number>>;

export interface Regret {
  /** Geometric mean over the rounds of this strategy's time / that of the round's best. */
  ratio: number;
  ratioMin: number;
  ratioMax: number;
  rounds: number;
  /** False where there is one round only, so that the best had to be chosen on what it is compared with. */
  chosenElsewhere: boolean;
}

export interface Regrets {
  /** Strategies without a round in common with the others are missing. */
  of: Map<string, Regret>;
  /** Whom each round is compared with. */
  best: Map<number, string>;
}

/**
 * Only strategies that have every round can be the best: means over different rounds cannot be compared. The others are
 * compared in the rounds that they have. Times of 0 and less are no times and are left out.
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
 * The same times without the round in which a run was cut short: among those who still have it the best may be missing.
 * Where everybody has the last round, or there is no other, nothing is left out.
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

/** By the geometric mean, so that a slow round, slow for all, weighs no more than a quick one. */
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
