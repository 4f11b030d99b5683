// SPDX-License-Identifier: MIT OR Apache-2.0

/** One round trip: sent and returned on the local clock, handled at `remoteMs` on the remote clock. */
export interface TimedTrip {
  readonly sentMs: number;
  readonly remoteMs: number;
  readonly backMs: number;
}

export interface ClockOffset {
  /** The remote clock minus the local one. */
  readonly offsetMs: number;
  readonly errorMs: number;
}

/**
 * Returns the offset of the remote clock from the local one, and its error.
 *
 * A single trip shows only that the remote side handled it between sending and return. The offset lies between `remote - back` and
 * `remote - sent`. The midpoint is the usual estimate; its error is half the width, which is half the round trip. The offset must satisfy
 * all trips, so it lies in the intersection of their intervals. The intersection is at most as wide as the narrowest interval. It is
 * narrower if different trips were slow in different directions.
 *
 * An empty intersection means that the clocks drifted during the series. The offset then comes from the fastest trip alone.
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
