// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.model

/** One round trip. `sentMs` and `backMs` are on our clock, `remoteMs` is on the peer's clock. */
internal class TimedTrip(val sentMs: Double, val remoteMs: Double, val backMs: Double)

/** The peer's clock minus our clock, and the error bound of that offset. */
internal class ClockOffset(val offsetMs: Double, val errorMs: Double)

/**
 * Returns the offset between the clocks, or null without a trip. The peer read its clock between the sending and the
 * return of the ping. So each trip limits the offset to the interval from `remote - back` to `remote - sent`. The
 * offset is in the intersection of all intervals. Returns the midpoint of the intersection, and half its width as the
 * error. An empty intersection means that the clocks drifted during the series. The fastest trip alone then counts.
 */
internal fun bestOffset(trips: List<TimedTrip>): ClockOffset? {
    val fastest = trips.minByOrNull { it.backMs - it.sentMs } ?: return null
    var low = trips.maxOf { it.remoteMs - it.backMs }
    var high = trips.minOf { it.remoteMs - it.sentMs }
    if (low > high) {
        low = fastest.remoteMs - fastest.backMs
        high = fastest.remoteMs - fastest.sentMs
    }
    return ClockOffset((low + high) / 2, (high - low) / 2)
}
