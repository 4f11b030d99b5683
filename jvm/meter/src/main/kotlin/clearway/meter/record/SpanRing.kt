// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.record

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
