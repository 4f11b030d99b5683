// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/**
 * Learns the costs of one call site (one kind of work) from its batches. A site *blocks* if its items sleep for most of
 * their time. The state depends only on the observations and their order. Not thread-safe. Allocates nothing after
 * construction.
 */
internal class SiteModel {
    /** Wall time per item, in ns. NaN before the first observation. */
    var itemNs: Double = Double.NaN
        private set

    /** CPU time per item, in ns. NaN before a CPU clock was read. */
    var itemCpuNs: Double = Double.NaN
        private set

    /** Number of batches that the model has learnt from. Excludes batches that a garbage collection disturbed. */
    var batches: Int = 0
        private set

    /** How recently the site blocked: 1 after a batch that blocked. Every batch that does not block reduces it. */
    var blockedMemory: Double = 0.0
        private set

    val durations: DurationHistogram = DurationHistogram()
    private val corrections = DoubleArray(Placement.entries.size) { 1.0 }
    private var surprises = 0
    private var pausedInARow = 0

    val known: Boolean
        get() = batches > 0

    /** Whether the site has run its cold batches, which load classes and run interpreted code. */
    val warm: Boolean
        get() = batches > COLD_BATCHES

    /** Whether the site blocked recently. */
    val mayBlock: Boolean
        get() = blockedMemory > FORGOTTEN

    /** CPU time per item, in ns. This is the wall time if CPU time was never measured. */
    val cpuOrWallNs: Double
        get() = if (itemCpuNs.isNaN()) itemNs else minOf(itemCpuNs, itemNs)

    /**
     * Returns the factor by which predictions for `place` must be multiplied. It comes from the errors of earlier
     * predictions.
     */
    fun correction(place: Placement): Double = corrections[place.ordinal]

    fun observe(seen: Observation) {
        if (seen.items == 0) return
        // Skips a batch that a garbage collection disturbed. If collections disturb several batches in a row, the site
        // allocates much, and the collections are part of its cost.
        if (seen.paused && known && ++pausedInARow < PAUSES_BELIEVED) return
        pausedInARow = 0
        val observedNs = seen.itemsNs.toDouble() / seen.items
        if (!warm) replace(observedNs, seen)
        else if (isSurprise(observedNs)) surprise(observedNs, seen) else follow(observedNs, seen)
        learnBlocking(seen)
        learnCorrection(seen)
        batches++
    }

    /** Replaces the learnt times by this observation alone. So cold batches do not influence later means. */
    private fun replace(observedNs: Double, seen: Observation) {
        itemNs = observedNs
        durations.clear()
        count(observedNs, seen)
        itemCpuNs = Double.NaN
        learnCpu(seen, 1.0)
        surprises = 0
        if (batches >= COLD_BATCHES) corrections.fill(1.0)
    }

    /**
     * Whether the item time is less than half or more than double the known one. The site may have changed, a method
     * may have been compiled, or the batch may be an outlier.
     */
    private fun isSurprise(observedNs: Double) = observedNs > itemNs * SURPRISE || observedNs < itemNs / SURPRISE

    /**
     * Learns from a surprising observation. The first one only moves the mean, so one outlier changes little. The
     * second one in a row replaces the learnt times.
     */
    private fun surprise(observedNs: Double, seen: Observation) {
        if (++surprises < SURPRISES_BELIEVED) {
            val counted = surprises
            follow(observedNs.coerceIn(itemNs / LEAP, itemNs * LEAP), seen)
            surprises = counted
        } else {
            replace(observedNs, seen)
            corrections.fill(1.0)
        }
    }

    private fun follow(observedNs: Double, seen: Observation) {
        surprises = 0
        itemNs += (observedNs - itemNs) * GAIN
        durations.fade(1 - GAIN)
        count(observedNs, seen)
        learnCpu(seen, GAIN)
    }

    private fun count(observedNs: Double, seen: Observation) {
        val buckets = seen.buckets
        if (buckets == null) durations.add(observedNs.toLong(), seen.items.toDouble())
        else for (b in buckets.indices) if (buckets[b] > 0) durations.add(1L shl b, buckets[b].toDouble())
    }

    /** Learns the CPU time per item. Does nothing if no CPU clock was read. */
    private fun learnCpu(seen: Observation, gain: Double) {
        if (seen.cpuItems == 0) return
        val cpuNs = minOf(seen.cpuNs, seen.cpuWallNs).toDouble() / seen.cpuItems
        itemCpuNs = if (itemCpuNs.isNaN()) cpuNs else itemCpuNs + (cpuNs - itemCpuNs) * gain
    }

    private fun learnBlocking(seen: Observation) {
        blockedMemory = if (blocked(seen)) 1.0 else blockedMemory * FADE
    }

    private fun learnCorrection(seen: Observation) {
        for (place in Placement.entries) {
            val i = place.ordinal
            if (place != seen.place) corrections[i] += (1.0 - corrections[i]) * RETRY
            else if (seen.predictedNs > 0 && !seen.offPlan && !seen.crowded) {
                val ratio = (seen.elapsedNs / seen.predictedNs).coerceIn(1 / CORRECTION, CORRECTION)
                corrections[i] += (ratio - corrections[i]) * CORRECTION_GAIN
            }
        }
    }

    companion object {
        /**
         * Number of a site's first batches that count as cold. Cold batches load classes and run interpreted code; they
         * took 10 to 1,000 times as long as a warm batch.
         */
        const val COLD_BATCHES: Int = 3
        /**
         * Weight of a new observation in the mean. One outlier moves the mean by an eighth of its distance, and a
         * change of the site takes effect within a few batches.
         */
        private const val GAIN = 0.125
        private const val SURPRISE = 2.0
        private const val SURPRISES_BELIEVED = 2
        /** A first surprise counts as at most this multiple of the mean, and as at least its inverse. */
        private const val LEAP = 4.0
        /** After this many disturbed batches in a row, garbage collection counts as part of the site's cost. */
        private const val PAUSES_BELIEVED = 4
        /**
         * A batch blocked if its threads slept for more than this share of their wall time, and for more than
         * [ASLEEP_NS]. A thread that one other thread preempts is off its processor for a smaller share.
         */
        private const val ASLEEP_SHARE = 0.6
        /** Minimum sleep of a batch that blocked, in ns. It is above the precision of timers and clocks. */
        private const val ASLEEP_NS = 20_000.0
        /** Factor on [blockedMemory] for each batch that did not block. It takes 190 batches from 1 to [FORGOTTEN]. */
        private const val FADE = 63.0 / 64
        private const val FORGOTTEN = 0.05
        /** Maximum correction of a prediction, as a factor; its inverse is the minimum. */
        private const val CORRECTION = 4.0

        /**
         * Returns whether the threads of a batch slept for most of their time. If all processors were busy, threads
         * also waited for a processor. The wall time then says nothing about sleep, so only [Observation.slept] counts.
         * One batch may mistake a preempted thread for a sleeping one.
         */
        fun blocked(seen: Observation): Boolean {
            val asleepNs =
                if (seen.cpuItems == 0 || seen.crowded) 0.0
                else (seen.cpuWallNs - seen.cpuNs - seen.waitedNs).toDouble()
            return seen.slept || (asleepNs > (seen.cpuWallNs - seen.waitedNs) * ASLEEP_SHARE && asleepNs > ASLEEP_NS)
        }

        private const val CORRECTION_GAIN = 0.4
        /**
         * Every batch that runs elsewhere moves a place's correction towards 1 by this share. So a place that was
         * slower than predicted is tried again after about 40 batches, which costs at most 2 %.
         */
        private const val RETRY = 1.0 / 64
    }
}

/** The threads that a batch can run on. */
internal enum class Placement {
    /** The caller alone. */
    INLINE,
    /** The caller and the CPU workers. */
    CPU,
    /** The caller and elastic threads (extra threads, for items that block): as many as make the batch faster. */
    ELASTIC,
}

/** The measurements of one finished batch. Times are in ns. */
internal class Observation(
    val place: Placement,
    /** Number of items that ran to their end and were timed. */
    val items: Int,
    /** Sum of the wall times of these items, over all threads. */
    val itemsNs: Long,
    /** Time from publishing the batch to the end of its last item. */
    val elapsedNs: Long,
    /** Number of items that ran on threads whose CPU clock was read. 0 if no thread's CPU clock was read. */
    val cpuItems: Int = 0,
    /** Wall time of the threads whose CPU clock was read. */
    val cpuWallNs: Long = 0,
    /** CPU time of the threads whose CPU clock was read. */
    val cpuNs: Long = 0,
    /** Part of `cpuWallNs` in which the threads were ready without a processor. 0 if the host does not count it. */
    val waitedNs: Long = 0,
    /**
     * Whether all processors were probably busy. If so, a thread that did not run may have waited for a processor
     * instead of sleeping.
     */
    val crowded: Boolean = false,
    /** Whether the garbage collector ran during the batch, and may have stopped its threads. */
    val paused: Boolean = false,
    /** Whether threads slept in items while a processor was free. */
    val slept: Boolean = false,
    /** Number of items per [DurationHistogram.bucketOf]. Null unless each item was timed. */
    val buckets: IntArray? = null,
    /**
     * The [Prediction] of `elapsedNs`, without the correction factor that [SiteModel] learns for each place. 0 if there
     * was no prediction.
     */
    val predictedNs: Double = 0.0,
    /**
     * Whether the batch's time cannot be compared with its prediction: more threads joined than planned, threads may
     * not share the batch (an ordered site), an item failed, or the batch was cancelled.
     */
    val offPlan: Boolean = false,
)

/**
 * Whether a batch probably kept all processors busy. It did if it ran on more threads than processors, and its threads
 * together used more than [CROWDED] of the processors' time.
 */
internal fun isCrowded(threads: Int, cpuNs: Long, elapsedNs: Long, processors: Int): Boolean =
    threads > processors && cpuNs > elapsedNs * processors * CROWDED

/** A batch that used more than this share of the processors' time is crowded. */
private const val CROWDED = 0.9

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
