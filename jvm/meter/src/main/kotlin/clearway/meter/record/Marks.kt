// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.record

import clearway.meter.MarkShare

/** The labels that were open when, on which thread. For any thread; `now` is the meter's clock, in ms. */
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

    /** Harmless when called twice. */
    fun close(entry: Entry) {
        val endMs = now()
        synchronized(this) {
            if (!open.remove(entry)) return
            entry.endMs = endMs
            if (closed.size < CLOSED_MAX) closed += entry else closed[next] = entry
            next = (next + 1) % CLOSED_MAX
        }
    }

    /** The marks of `thread` between two moments, longest overlap first. */
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
        /** Closed marks are kept for stalls that are still being explained; 512 cover any such delay at 1 mark a ms. */
        const val CLOSED_MAX = 512
    }
}
