// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.Clock
import clearway.executor.model.DurationHistogram

/** Sums of the measurements of one batch's threads. Each thread adds its measurements when it leaves. */
internal class Totals {
    var items = 0
    var itemsNs = 0L
    var cpuItems = 0
    var cpuWallNs = 0L
    var cpuNs = 0L
    var waitedNs = 0L
    var threads = 0
    var buckets: IntArray? = null

    fun add(one: Participant, lane: Registry.Lane, clock: Clock, timedItems: Boolean) {
        val wallNs = clock.nanoTime() - one.startNs
        val endCpuNs = if (one.cpuStartNs >= 0) clock.threadCpuNs() else -1
        val awayNs = if (endCpuNs < 0) 0 else wallNs - (endCpuNs - one.cpuStartNs)
        // Distinguishes sleep from waiting for a processor. The reading costs 5 us, so it is made only for a thread
        // that was off its processor for long.
        val waited = if (awayNs > maxOf(AWAY_NS, wallNs / 4)) lane.waitedSince(clock.waitedForProcessorNs()) else 0
        synchronized(this) {
            threads++
            items += one.items
            itemsNs += if (timedItems) one.itemsNs else wallNs
            if (endCpuNs >= 0) {
                cpuItems += one.items
                cpuWallNs += wallNs
                cpuNs += endCpuNs - one.cpuStartNs
                waitedNs += minOf(waited, awayNs)
            }
            val counts = one.buckets ?: return
            val sum = buckets ?: IntArray(DurationHistogram.BUCKETS).also { buckets = it }
            for (b in sum.indices) sum[b] += counts[b]
        }
    }

    private companion object {
        /** Minimum time off the processor, in ns, that counts. The model has the same limit. */
        const val AWAY_NS = 20_000L
    }
}
