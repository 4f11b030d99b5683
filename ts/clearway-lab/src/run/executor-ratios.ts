// SPDX-License-Identifier: MIT OR Apache-2.0
// The ratios behind the findings about executors: each is calculated round by round, has the engine's interval, and agrees, differs, or is open.
import { type Interval, intervalOf, type Verdict, verdictOf } from "../engine/estimate.js";
import { bestByOtherRounds, type Times } from "../statistics/rounds.js";
import type { FindingOutcome } from "./findings.js";

/** Whether the run agrees with a finding. */
export type Outcome = Exclude<FindingOutcome, "not measured">;

/** One comparison of a finding. The ratio is that of times: subject / reference. */
export interface FindingPart {
  label: string;
  outcome: Outcome;
  /** The ratio and its interval of 99 %. Absent with fewer than two rounds. */
  interval?: Interval;
  rounds: number;
}

/**
 * Returns the times of the fastest or slowest of the ways, by round. The way of a round is chosen from the other rounds, so that no
 * measurement both chooses and compares. If a way that lacks rounds is the one in the rounds that all have, only these are compared. Returns
 * an empty map if there are none, because the way could be the one.
 */
export function extremeOf(times: Times, names: readonly string[], which: "least" | "most"): Map<number, number> {
  const roundsOf = (name: string) => [...(times.get(name)?.keys() ?? [])];
  const all = new Set(names.flatMap(roundsOf));
  const common = [...all].filter((round) => names.every((name) => times.get(name)?.has(round)));
  const complete = names.filter((name) => roundsOf(name).length === all.size);
  const best = bestOf(times, names, common, which);
  const isComplete = best.size > 0 && [...best.values()].every((name) => complete.includes(name));
  const chosen = isComplete ? bestOf(times, complete, [...all], which) : best;
  return new Map([...chosen].map(([round, name]) => [round, times.get(name)!.get(round)!]));
}

/** Returns the fastest or slowest way of each of these rounds, which all of the ways have. */
function bestOf(
  times: Times,
  names: readonly string[],
  rounds: readonly number[],
  which: "least" | "most",
): Map<number, string> {
  // The slowest way is the fastest by the inverse of its times.
  const rank = (ms: number) => (which === "least" ? ms : 1 / ms);
  return bestByOtherRounds(
    new Map(names.map((name) => [name, new Map(rounds.map((round) => [round, rank(times.get(name)!.get(round)!)]))])),
  );
}

/** Least number of rounds for a verdict: that of the engine's pairs. */
const ROUNDS_MIN = 4;

export interface Compared {
  verdict: Verdict;
  interval?: Interval;
  rounds: number;
}

/** Compares by the rounds' ratios, as the engine does by those of pairs. */
export function comparedOf(ratios: readonly number[]): Compared {
  const rounds = ratios.length;
  if (rounds < 2) return { verdict: "open", rounds };
  const interval = intervalOf(ratios.map((ratio) => Math.log(ratio)));
  return { verdict: rounds < ROUNDS_MIN ? "open" : verdictOf(interval, true), interval, rounds };
}

export function partOf(label: string, { interval, rounds }: Compared, outcome: Outcome): FindingPart {
  return { label, outcome, rounds, ...(interval && { interval }) };
}

/** Returns whether the interval lies within the range, outside it, or across one of its ends. */
export function within({ interval, rounds }: Compared, { min, max }: { min: number; max: number }): Outcome {
  if (interval === undefined || rounds < ROUNDS_MIN) return "open";
  if (interval.low >= min && interval.high <= max) return "agrees";
  return interval.high < min || interval.low > max ? "differs" : "open";
}

/** Returns whether the ratio is on the expected side of 1. No difference is another finding than a difference. */
export function onSide({ verdict }: Compared, side: "above" | "below"): Outcome {
  if (verdict === "open") return "open";
  return verdict === (side === "above" ? "slower" : "faster") ? "agrees" : "differs";
}

/** Joins the parts' outcomes. If all must agree, one that differs decides; if any may agree, one that agrees decides. */
export function joined(parts: FindingPart[], needed: "all" | "any"): { outcome: Outcome; parts: FindingPart[] } {
  const [deciding, other]: Outcome[] = needed === "all" ? ["differs", "agrees"] : ["agrees", "differs"];
  const has = parts.some(({ outcome }) => outcome === deciding);
  const outcome = has ? deciding! : parts.length > 0 && parts.every((part) => part.outcome === other) ? other! : "open";
  return { outcome, parts };
}
