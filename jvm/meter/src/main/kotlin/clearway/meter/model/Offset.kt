// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.model

/** One round trip. `sentMs` and `backMs` are on our clock, `remoteMs` on the peer's. */
internal class TimedTrip(val sentMs: Double, val remoteMs: Double, val backMs: Double)

/** The peer's clock minus ours, and the error bound. */
internal class ClockOffset(val offsetMs: Double, val errorMs: Double)

/**
 * Returns the offset between the clocks, or null without a trip. A trip was handled between its sending and its return,
 * so the offset is within `remote - back` and `remote - sent`. All trips must agree, so the offset is in the
 * intersection of these intervals. The result is its midpoint; the error is half its width. An empty intersection means
 * that the clocks drifted during the series; then the fastest trip alone counts.
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
