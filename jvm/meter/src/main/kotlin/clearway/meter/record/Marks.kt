// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.record

import clearway.meter.MarkShare

/** Records which labels were open, when, and on which thread. Thread-safe. `now` reads the meter's clock, in ms. */
internal class Marks(private val now: () -> Double) {
    class Entry(val label: String, val thread: Thread, val startMs: Double) {
        var endMs: Double = Double.NaN
    }

    private val open = LinkedHashSet<Entry>()
    private val closed = ArrayList<Entry>()
    private var next = 0

    fun open(label: String): Entry {
        val entry = Entry(label, Thread.currentThread(), now())
        synchronized(this) { open += entry }
        return entry
    }

    /** Closes an entry. A second call does nothing. */
    fun close(entry: Entry) {
        val endMs = now()
        synchronized(this) {
            if (!open.remove(entry)) return
            entry.endMs = endMs
            if (closed.size < CLOSED_MAX) closed += entry else closed[next] = entry
            next = (next + 1) % CLOSED_MAX
        }
    }

    /** Returns the marks of `thread` that were open between two moments, the longest overlap first. */
    fun during(thread: Thread?, fromMs: Double, untilMs: Double): List<MarkShare> {
        val overlaps = LinkedHashMap<String, Double>()
        synchronized(this) {
            for (entry in closed + open) {
                if (entry.thread !== thread) continue
                val endMs = if (entry.endMs.isNaN()) untilMs else entry.endMs
                val overlapMs = minOf(untilMs, endMs) - maxOf(fromMs, entry.startMs)
                if (overlapMs > 0) overlaps.merge(entry.label, overlapMs, ::maxOf)
            }
        }
        return overlaps.map { MarkShare(it.key, it.value) }.sortedByDescending { it.overlapMs }
    }

    private companion object {
        /**
         * Maximum number of closed marks that are kept for stalls that are not explained yet. At one mark per ms, 512
         * marks cover the time until the explanation.
         */
        const val CLOSED_MAX = 512
    }
}
