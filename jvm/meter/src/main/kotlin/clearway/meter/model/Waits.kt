// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.model

/**
 * Returns the probability, 0 to 1, that an event at a random moment of the run waits longer than `overMs`.
 *
 * Exact, not sampled. An event waits longer than x if it arrives more than x before the end of a stall. These moments
 * make up sum max(0, b - x) of the run. Stalls below the meter's floor are not recorded, so for `overMs` below the
 * floor the result is a lower bound.
 */
internal fun waitProbability(lengthsMs: DoubleArray, durationMs: Double, overMs: Double): Double {
    if (durationMs <= 0) return 0.0
    return minOf(1.0, lengthsMs.sumOf { maxOf(0.0, it - overMs) } / durationMs)
}

/**
 * Returns the mean wait of an event that arrives at a random moment: sum of b^2 / 2T. The event meets stall b with
 * probability b / T and then waits b / 2 on average. Unrecorded stalls add at most half the floor to the true mean.
 */
internal fun lagMean(lengthsMs: DoubleArray, durationMs: Double): Double {
    if (durationMs <= 0) return 0.0
    return lengthsMs.sumOf { it * it } / (2 * durationMs)
}
