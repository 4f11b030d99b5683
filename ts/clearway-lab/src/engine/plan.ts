// SPDX-License-Identifier: MIT OR Apache-2.0
// Spends a run's time: first the least number of pairs for every comparison, then the comparison that needs the fewest further pairs. Pure.
import { furtherPairs, intervalOf, isAnswered, type Verdict, verdictOf } from "./estimate.js";

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

/** A session: the comparisons that two arms answer together. A pair of arms measures all of them that still need one. */
export interface Session {
  readonly comparisons: readonly Progress[];
  /** The length of its last pair in milliseconds, or a guess before the first. */
  pairMs: number;
}

/**
 * Returns the session that is measured next, or undefined if none is needed or none fits. `leftMs` is the time that is left. While the least
 * numbers of pairs fit, the sessions take turns; otherwise, those that are complete soonest come first, so that a slow machine has fewer
 * answers and not none.
 */
export function nextSession<S extends Session>(sessions: readonly S[], leftMs: number): S | undefined {
  const least = sessions
    .map((session) => ({ session, pairs: Math.max(...session.comparisons.map(missing)) }))
    .filter(({ pairs }) => pairs > 0);
  if (least.length > 0) {
    const allMs = least.reduce((sum, { session, pairs }) => sum + pairs * session.pairMs, 0);
    if (allMs <= leftMs) return first(least, ({ pairs }) => -pairs);
    const soonest = first(least, ({ session, pairs }) => pairs * session.pairMs);
    if (soonest !== undefined && soonest.pairMs <= leftMs) return soonest;
  }
  const open = sessions
    .map((session) => ({
      session,
      pairs: Math.min(...session.comparisons.map(pairsNeeded).filter((pairs) => pairs > 0)),
    }))
    .filter(({ session, pairs }) => Number.isFinite(pairs) && pairs * session.pairMs <= leftMs);
  return first(open, ({ session, pairs }) => pairs * session.pairMs);
}

function missing({ failed, logs, pairsMin }: Progress): number {
  return failed === undefined ? Math.max(0, pairsMin - logs.length) : 0;
}

function first<S>(all: readonly { session: S; pairs: number }[], by: (each: { session: S; pairs: number }) => number) {
  let best: { session: S; value: number } | undefined;
  for (const each of all) {
    const value = by(each);
    if (best === undefined || value < best.value) best = { session: each.session, value };
  }
  return best?.session;
}

/** Returns the further time in milliseconds that would decide an open comparison, if one hour would. */
export function furtherMs({ logs, pairsMin, limit }: Progress, pairMs: number): number | undefined {
  const pairs =
    logs.length < Math.max(2, pairsMin) ? pairsMin - logs.length : furtherPairs(logs, PAIRS_MAX_NAMED, limit);
  return pairs === undefined ? undefined : pairs * pairMs;
}
