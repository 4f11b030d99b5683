// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.record

import clearway.meter.Stall

/** A stall and its interval on the meter's clock. */
internal class PlacedStall(val startMs: Double, val endMs: Double, val stall: Stall)

/**
 * The stalls of a run, in limited memory. If there are more than `stallsMax`, it drops and counts the oldest ones. The
 * covered time then starts after the last dropped stall, so every figure stays exact for the time that it covers.
 */
internal class StallHistory(private val stallsMax: Int, beginMs: Double) {
    private val kept = ArrayList<PlacedStall>()

    var dropped: Int = 0
        private set

    var coveredFromMs: Double = beginMs
        private set

    val stalls: List<PlacedStall>
        get() = kept

    fun add(placed: PlacedStall) {
        kept += placed
        if (kept.size <= stallsMax) return
        // Drops a quarter at a time. Dropping a single stall would move the whole list for each new stall.
        val gone = kept.subList(0, maxOf(1, stallsMax shr 2))
        dropped += gone.size
        coveredFromMs = gone.last().endMs
        gone.clear()
    }
}
