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

/** An interval with a value. A moment is an interval of length 0. */
internal class Span<out V>(val startMs: Double, val endMs: Double, val value: V) {
    /** Returns the length of the overlap with an interval, in ms. Negative if they do not overlap. */
    fun overlapMs(fromMs: Double, untilMs: Double): Double = minOf(untilMs, endMs) - maxOf(fromMs, startMs)
}

/**
 * A ring buffer of intervals, with a fixed size. It limits the memory of a long run. Evidence is read only soon after
 * its time.
 */
internal class SpanRing<V>(private val spansMax: Int) {
    private val kept = ArrayList<Span<V>>()
    private var next = 0

    fun add(startMs: Double, endMs: Double, value: V) {
        val span = Span(startMs, endMs, value)
        if (kept.size < spansMax) kept += span else kept[next] = span
        next = (next + 1) % spansMax
    }

    /** Returns the intervals that overlap or touch the given one. */
    fun during(fromMs: Double, untilMs: Double): List<Span<V>> = kept.filter { it.overlapMs(fromMs, untilMs) >= 0 }

    /** Returns the sum of the overlaps with an interval, in ms, at most the length of that interval. */
    fun overlapMs(fromMs: Double, untilMs: Double): Double {
        val total = during(fromMs, untilMs).sumOf { it.overlapMs(fromMs, untilMs) }
        return minOf(total, maxOf(0.0, untilMs - fromMs))
    }
}
