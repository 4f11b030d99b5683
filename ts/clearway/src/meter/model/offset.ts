// SPDX-License-Identifier: MIT OR Apache-2.0

/** One round trip. The local clock gives the times of sending and return. The remote clock gives `remoteMs`, when the trip was handled. */
export interface TimedTrip {
  readonly sentMs: number;
  readonly remoteMs: number;
  readonly backMs: number;
}

export interface ClockOffset {
  /** The remote clock minus the local clock. */
  readonly offsetMs: number;
  readonly errorMs: number;
}

/**
 * Returns the offset of the remote clock from the local clock, and its error. Returns `undefined` without trips.
 *
 * A single trip shows only that the remote side handled it between sending and return. The offset therefore lies between `remote - back`
 * and `remote - sent`. The usual estimate is the midpoint. The error is half the width of this interval, which is half the round trip.
 *
 * The offset must agree with all trips, so it lies in the intersection of their intervals. The intersection is at most as wide as the
 * narrowest interval. The intersection is narrower if some trips were slow on the way there and others on the way back.
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
