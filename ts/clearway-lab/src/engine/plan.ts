// SPDX-License-Identifier: MIT OR Apache-2.0
// Spends a run's time: first the least number of pairs for every comparison, then the comparison that needs the fewest further pairs. Pure.
import { furtherPairs, intervalOf, isAnswered, quantile, type Verdict, verdictOf } from "./estimate.js";

/** The longest time of a run that a user may ask for, in seconds. */
export const TIME_S_MAX = 3600;
/** Maximum number of pairs of a comparison, and of a comparison that a user asked for by name, whose time is longer. */
export const PAIRS_MAX = 12;
export const PAIRS_MAX_NAMED = 60;
/** A comparison is hopeless if it would need more than twice as many pairs: the spread of four pairs is too rough to say so earlier. */
const HOPE = 2;

/** The state of a comparison in a run. */
export interface Progress {
  readonly pairsMin: number;
  readonly pairsMax: number;
  /** The ratio that it must not exceed. A comparison with a limit is measured until its interval leaves the limit out. */
  readonly limit?: number | undefined;
  readonly logs: number[];
  /** The time that its part of the last pair took, in milliseconds, without the start of the arms. Undefined before the first pair. */
  ownMs?: number;
  /** Why no further pair is measured, if an arm has failed. */
  failed?: string;
}

export function verdictNow({ logs, pairsMin, pairsMax }: Progress, isLast = false): Verdict {
  if (logs.length < Math.max(2, pairsMin)) return "open";
  return verdictOf(intervalOf(logs), isLast || logs.length >= pairsMax);
}

/** Returns how many pairs are still needed. 0: nothing more to do, because it is decided, failed, or hopeless. */
export function pairsNeeded(progress: Progress): number {
  const { logs, pairsMin, pairsMax, limit, failed } = progress;
  if (failed !== undefined) return 0;
  if (logs.length < pairsMin) return pairsMin - logs.length;
  if (logs.length >= pairsMax || isAnswered(intervalOf(logs), false, limit)) return 0;
  return furtherPairs(logs, pairsMax * HOPE, limit) ?? 0;
}

/** A session: the comparisons that two arms answer together. A pair of arms measures those of them that still need one. */
export interface Session<C extends Progress = Progress> {
  readonly comparisons: readonly C[];
  /** The time that the arms of its last pair took to start and to end, in milliseconds. Undefined before the first pair. */
  startMs?: number;
}

/** The guesses of a session's first pair, in milliseconds. */
const START_MS = 700;
const OWN_MS = 2000;
/** From this number of parts, their median replaces the guess. */
const PARTS_MIN = 3;
/** Pairs vary: only what fits with this reserve is begun. */
const RESERVE = 1.1;

/**
 * Returns the expected time of a comparison's part of a pair, in milliseconds: that of its last pair, or what the machine has taken for the
 * others so far, or a guess.
 */
export function partMs(sessions: readonly Session[], { ownMs }: Progress): number {
  if (ownMs !== undefined) return ownMs;
  const known = sessions.flatMap(({ comparisons }) => comparisons.flatMap((each) => each.ownMs ?? []));
  return known.length < PARTS_MIN ? OWN_MS : quantile(known, 0.5);
}

/** The pair that is measured next: of a session, and for which of its comparisons. */
export interface Step<S> {
  session: S;
  comparisons: S extends Session<infer C> ? C[] : never;
}

/**
 * Returns the pair that is measured next, or undefined if none is needed or none fits. `leftMs` is the time that is left. While the least
 * numbers of pairs fit, the sessions take turns. Otherwise a session is begun only with those comparisons that can have an answer in the time,
 * and completed before another is begun, so that a slow machine has fewer answers and not none.
 */
export function nextPair<C extends Progress>(
  sessions: readonly Session<C>[],
  leftMs: number,
): Step<Session<C>> | undefined {
  const least = sessions
    .map((session) => planOf(sessions, session, missing, leftMs))
    .filter(({ all }) => all.length > 0);
  if (least.reduce((sum, { allMs }) => sum + allMs, 0) <= leftMs) {
    const [turn] = least.sort((a, b) => b.pairs - a.pairs);
    if (turn !== undefined) return { session: turn.session, comparisons: turn.session.comparisons.filter(isNeeded) };
  } else {
    const fits = least.filter(({ fitting }) => fitting.length > 0);
    const begun = fits.filter(({ fitting }) => fitting.some(({ logs }) => logs.length > 0));
    const [soonest] = (begun.length > 0 ? begun : fits).sort(
      (a, b) => a.fittingMs / a.fitting.length - b.fittingMs / b.fitting.length,
    );
    if (soonest !== undefined) return { session: soonest.session, comparisons: soonest.fitting };
    // Before the first pair there are only guesses.
    const isFirst = sessions.every(({ comparisons }) => comparisons.every(({ ownMs }) => ownMs === undefined));
    if (isFirst && leftMs > 0) return { session: least[0]!.session, comparisons: least[0]!.all };
  }
  const [cheapest] = sessions
    .map((session) => planOf(sessions, session, (each) => (missing(each) > 0 ? 0 : pairsNeeded(each)), leftMs))
    .filter(({ fitting }) => fitting.length > 0)
    .sort((a, b) => a.firstMs - b.firstMs);
  return cheapest && { session: cheapest.session, comparisons: cheapest.fitting };
}

const isNeeded = (progress: Progress): boolean => pairsNeeded(progress) > 0;

function missing({ failed, logs, pairsMin }: Progress): number {
  return failed === undefined ? Math.max(0, pairsMin - logs.length) : 0;
}

/** Plans a session: all of its comparisons that need pairs, and those of them that the time allows, the ones with the fewest first. */
function planOf<C extends Progress>(
  sessions: readonly Session<C>[],
  session: Session<C>,
  needOf: (progress: Progress) => number,
  leftMs: number,
) {
  const all = session.comparisons.filter((each) => needOf(each) > 0).sort((a, b) => needOf(a) - needOf(b));
  const msOf = (chosen: readonly C[]): number =>
    RESERVE *
    chosen.reduce(
      (sum, each) => sum + needOf(each) * partMs(sessions, each),
      Math.max(0, ...chosen.map(needOf)) * (session.startMs ?? START_MS),
    );
  const fitting: C[] = [];
  for (const each of all) if (msOf([...fitting, each]) <= leftMs) fitting.push(each);
  const pairs = Math.max(0, ...all.map(needOf));
  return {
    session,
    all,
    allMs: msOf(all),
    pairs,
    fitting,
    fittingMs: msOf(fitting),
    firstMs: msOf(fitting.slice(0, 1)),
  };
}

/** Returns the further time in milliseconds that would decide an open comparison, if sixty pairs would. */
export function furtherMs({ logs, pairsMin, limit }: Progress, pairMs: number): number | undefined {
  const pairs =
    logs.length < Math.max(2, pairsMin) ? pairsMin - logs.length : furtherPairs(logs, PAIRS_MAX_NAMED, limit);
  return pairs === undefined ? undefined : pairs * pairMs;
}
