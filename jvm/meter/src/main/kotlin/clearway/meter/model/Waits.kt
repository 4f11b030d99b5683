// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.model

/**
 * Returns the probability, from 0 to 1, that an event at a random moment of the run waits longer than `overMs`.
 *
 * The result is exact, not sampled. Let b be the length of a stall. An event waits longer than x if it arrives more
 * than x before the end of a stall. These moments add up to the sum of max(0, b - x) over all stalls. Stalls shorter
 * than the option `floorMs` are not recorded, so the result is a lower bound if `overMs` is below that option.
 */
internal fun waitProbability(lengthsMs: DoubleArray, durationMs: Double, overMs: Double): Double {
    if (durationMs <= 0) return 0.0
    return minOf(1.0, lengthsMs.sumOf { maxOf(0.0, it - overMs) } / durationMs)
}

/**
 * Returns the mean wait of an event that arrives at a random moment: the sum of b^2 / 2T over all stalls. T is the
 * length of the run. The event meets a stall of length b with probability b / T, and then waits b / 2 on average.
 * Stalls that are too short to be recorded add at most half the option `floorMs` to the true mean.
 */
internal fun lagMean(lengthsMs: DoubleArray, durationMs: Double): Double {
    if (durationMs <= 0) return 0.0
    return lengthsMs.sumOf { it * it } / (2 * durationMs)
}
