// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.model

import clearway.meter.TailQuantile

/**
 * Minimum number of samples that must lie beyond a quantile. With fewer, the quantile depends more on chance than on
 * the app.
 */
internal const val SAMPLES_BEYOND_MIN: Int = 20

private val QUANTILES = doubleArrayOf(0.5, 0.9, 0.99, 0.999)

/** Returns the nearest-rank quantile of an ascending list, or null if the list is too short for it. */
internal fun quantile(sorted: DoubleArray, q: Double): Double? {
    // The term 1e-9 compensates for the rounding of 1 - q: 200 * (1 - 0.9) is 19.999999999999996.
    if (sorted.size * (1 - q) + 1e-9 < SAMPLES_BEYOND_MIN) return null
    return sorted[maxOf(0, Math.ceil(sorted.size * q - 1e-9).toInt() - 1)]
}

/** Returns the quantiles of the stall lengths. */
internal fun tail(lengthsMs: DoubleArray): List<TailQuantile> {
    val sorted = lengthsMs.sortedArray()
    return QUANTILES.map { TailQuantile(it, quantile(sorted, it)) }
}
