// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.model

/**
 * Probability, 0 to 1, that an event arriving at a random moment of the run waits longer than `overMs`.
 *
 * Exact, not sampled: an event waits longer than x if it arrives in the part of a stall that lies more than x before
 * the stall's end, so the arrivals that do make up sum max(0, b - x) of the run. Stalls under the meter's floor are not
 * recorded, so `overMs` under the floor gives a lower bound.
 */
internal fun waitProbability(lengthsMs: DoubleArray, durationMs: Double, overMs: Double): Double {
    if (durationMs <= 0) return 0.0
    return minOf(1.0, lengthsMs.sumOf { maxOf(0.0, it - overMs) } / durationMs)
}

/**
 * Mean wait of an event that arrives at a random moment: sum of b^2 / 2T. It meets stall b with probability b / T and
 * then waits b / 2 on average. Unrecorded stalls can add at most half the floor to the true figure.
 */
internal fun lagMean(lengthsMs: DoubleArray, durationMs: Double): Double {
    if (durationMs <= 0) return 0.0
    return lengthsMs.sumOf { it * it } / (2 * durationMs)
}
