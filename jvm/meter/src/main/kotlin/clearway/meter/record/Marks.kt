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

    /**
     * Returns the marks of `thread` that were open between two moments, the longest overlap first. Time in several
     * marks of one label counts once.
     */
    fun during(thread: Thread?, fromMs: Double, untilMs: Double): List<MarkShare> {
        val shares = LinkedHashMap<String, Share>()
        synchronized(this) {
            for (entry in (closed + open).filter { it.thread === thread }.sortedBy { it.startMs }) {
                val endMs = if (entry.endMs.isNaN()) untilMs else minOf(untilMs, entry.endMs)
                val share = shares[entry.label] ?: Share(fromMs)
                val gainMs = endMs - maxOf(share.coveredMs, entry.startMs)
                if (gainMs <= 0) continue
                share.overlapMs += gainMs
                share.coveredMs = endMs
                shares[entry.label] = share
            }
        }
        return shares.map { MarkShare(it.key, it.value.overlapMs) }.sortedByDescending { it.overlapMs }
    }

    /** How long a label was open. All marks with the label are counted up to the moment `coveredMs`. */
    private class Share(var coveredMs: Double) {
        var overlapMs = 0.0
    }

    private companion object {
        /**
         * Maximum number of closed marks that are kept for stalls that are not explained yet. At one mark per ms, 512
         * marks cover the time until the explanation.
         */
        const val CLOSED_MAX = 512
    }
}
