// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/**
 * A histogram of the durations of a site's items, with one bucket per power of two, in ns. The model fades old counts,
 * so the histogram follows a site that changes.
 *
 * Bucket `b` holds durations from 2^b to below 2^(b+1) ns; 0 ns counts as 1 ns. Not thread-safe. Allocates nothing
 * after construction.
 */
internal class DurationHistogram {
    private val counts = DoubleArray(BUCKETS)

    var total = 0.0
        private set

    /** Adds `items` durations of `ns` each. */
    fun add(ns: Long, items: Double = 1.0) {
        counts[bucketOf(ns)] += items
        total += items
    }

    /** Multiplies every count by `factor`, from 0 to 1. */
    fun fade(factor: Double) {
        total = 0.0
        for (bucket in 0 until BUCKETS) {
            counts[bucket] *= factor
            total += counts[bucket]
        }
    }

    fun clear(): Unit = fade(0.0)

    /**
     * Returns the upper end, in ns, of the bucket that contains the `quantile` of the durations. Returns 0 if the
     * histogram is empty.
     */
    fun atMostNs(quantile: Double): Long {
        if (total <= 0.0) return 0
        var below = 0.0
        for (bucket in 0 until BUCKETS) {
            below += counts[bucket]
            if (below >= quantile * total && below > 0.0) return upperNs(bucket)
        }
        return upperNs(BUCKETS - 1)
    }

    /** Returns a copy of the counts, for a report. */
    fun counts(): DoubleArray = counts.copyOf()

    companion object {
        /** Number of buckets. The last one holds durations from 2^47 ns (39 hours) on. */
        const val BUCKETS: Int = 48

        fun bucketOf(ns: Long): Int =
            (63 - java.lang.Long.numberOfLeadingZeros(maxOf(ns, 1L))).coerceAtMost(BUCKETS - 1)

        fun upperNs(bucket: Int): Long = 1L shl (bucket + 1)
    }
}
