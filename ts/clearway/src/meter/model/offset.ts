// SPDX-License-Identifier: MIT OR Apache-2.0

/** One round trip: sent and back on our clock, handled at `remoteMs` on theirs. */
export interface TimedTrip {
  readonly sentMs: number;
  readonly remoteMs: number;
  readonly backMs: number;
}

export interface ClockOffset {
  /** Their clock minus ours. */
  readonly offsetMs: number;
  readonly errorMs: number;
}

/**
 * Their clock against ours. A single trip only says that it was handled between sending and return: the offset lies
 * within `remote - back` and `remote - sent`, whose midpoint is the usual guess and whose half width, half the round
 * trip, the error. All trips together must agree, so the offset lies in the intersection: the tightest trip bounds it
 * at least as well, and slow ways on different legs of different trips bound it better.
 *
 * Where the intersection is empty the clocks drifted during the series: then the fastest trip alone is taken.
 */
export function bestOffset(trips: readonly TimedTrip[]): ClockOffset | undefined {
  if (trips.length === 0) return undefined;
  let low = Number.NEGATIVE_INFINITY;
  let high = Number.POSITIVE_INFINITY;
  let fastest = trips[0]!;
  for (const trip of trips) {
    low = Math.max(low, trip.remoteMs - trip.backMs);
    high = Math.min(high, trip.remoteMs - trip.sentMs);
    if (trip.backMs - trip.sentMs < fastest.backMs - fastest.sentMs) fastest = trip;
  }
  if (low > high) {
    low = fastest.remoteMs - fastest.backMs;
    high = fastest.remoteMs - fastest.sentMs;
  }
  return { offsetMs: (low + high) / 2, errorMs: (high - low) / 2 };
}
