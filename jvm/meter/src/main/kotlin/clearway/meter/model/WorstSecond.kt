// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.model

import clearway.meter.WorstSecond

/**
 * Returns the second of the run with the most stalled time. It may start at any moment, not only on a whole second. As
 * the window slides, its stalled time changes slope only when an edge of the window meets an edge of a stall. So in the
 * worst second, the window starts where a stall starts, or ends where a stall ends.
 *
 * The stalls must be in order and must not overlap. The run lasts from [fromMs] to [untilMs]. Takes O(n log n) time.
 */
internal fun worstSecond(startsMs: DoubleArray, lengthsMs: DoubleArray, untilMs: Double, fromMs: Double): WorstSecond {
    val ends = DoubleArray(startsMs.size) { startsMs[it] + lengthsMs[it] }
    val before = DoubleArray(startsMs.size + 1)
    for (i in lengthsMs.indices) before[i + 1] = before[i] + lengthsMs[i]
    fun stalledUntil(atMs: Double): Double {
        var low = 0
        var high = ends.size
        while (low < high) {
            val middle = (low + high) ushr 1
            if (ends[middle] <= atMs) low = middle + 1 else high = middle
        }
        return before[low] + if (low < ends.size) maxOf(0.0, atMs - startsMs[low]) else 0.0
    }
    val lastStartMs = maxOf(fromMs, untilMs - WINDOW_MS)
    var worst = WorstSecond(fromMs, 0.0)
    for (i in ends.indices) {
        for (candidate in doubleArrayOf(startsMs[i], ends[i] - WINDOW_MS)) {
            val startMs = minOf(maxOf(fromMs, candidate), lastStartMs)
            val stalledMs = stalledUntil(startMs + WINDOW_MS) - stalledUntil(startMs)
            if (stalledMs > worst.stalledMs) worst = WorstSecond(startMs, stalledMs)
        }
    }
    return worst
}

private const val WINDOW_MS = 1000.0
