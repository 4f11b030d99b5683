// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.metrics

import clearway.meter.Stall

/** What one stall adds to the metrics, in seconds and frames. */
internal class Amounts(
    val lengthS: Double,
    val gcS: Double,
    val machineS: Double,
    val hitchS: Double,
    val frames: Double,
    /** Seconds by label of a mark. */
    val marks: List<Pair<String, Double>>,
)

/** Computes what stalls add, with bounded labels. One object serves one scope. Thread-safe. */
internal class AmountCounter(private val options: MetricsOptions) {
    private val labels = HashSet<String>()

    fun of(stall: Stall): Amounts {
        val lengthS = seconds(stall.lengthMs)
        // A stall of length b covers b * hz frames, and the last of them still appears, late.
        val hitchS = maxOf(0.0, lengthS - 1 / options.hz)
        return Amounts(
            lengthS,
            seconds(stall.gcMs),
            seconds(stall.machineMs),
            hitchS,
            hitchS * options.hz,
            stall.marks.map { bounded(it.label) to seconds(it.overlapMs) },
        )
    }

    private fun bounded(label: String): String =
        synchronized(labels) {
            when {
                label in labels -> label
                labels.size >= options.marksMax -> OTHER
                else -> label.also { labels += it }
            }
        }

    internal companion object {
        /** The label that gets the time of all marks beyond `marksMax`. */
        const val OTHER = "_other"

        // A counter must not fall and must stay a number, so NaN and negative lengths count as 0.
        private fun seconds(ms: Double): Double = if (ms > 0 && ms.isFinite()) ms / 1000 else 0.0
    }
}
