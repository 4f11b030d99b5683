// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.model

/** One round trip: sent and back on our clock, handled at `remoteMs` on theirs. */
internal class TimedTrip(val sentMs: Double, val remoteMs: Double, val backMs: Double)

/** Their clock minus ours, and within what. */
internal class ClockOffset(val offsetMs: Double, val errorMs: Double)

/**
 * Their clock against ours. A single trip only says that it was handled between sending and return: the offset lies
 * within `remote - back` and `remote - sent`. All trips together must agree, so the offset lies in the intersection,
 * whose midpoint is the guess and whose half width the error. Where the intersection is empty the clocks drifted during
 * the series: then the fastest trip alone is taken. Null without a trip.
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
