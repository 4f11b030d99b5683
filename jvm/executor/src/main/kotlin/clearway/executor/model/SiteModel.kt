// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/**
 * The measurements of one call site. Pure: a function of the observations, in their order. Not thread-safe. Allocates
 * nothing after construction.
 */
internal class SiteModel {
    /** Wall time per item in ns. NaN before the first observation. */
    var itemNs: Double = Double.NaN
        private set

    /** CPU time per item in ns. NaN before a CPU clock was read. */
    var itemCpuNs: Double = Double.NaN
        private set

    /** Number of batches that were learnt from. Excludes batches that the garbage collector disturbed. */
    var batches: Int = 0
        private set

    /** 1 when the site was last seen to block. Fades with every batch that did not block. */
    var blockedMemory: Double = 0.0
        private set

    val durations: DurationHistogram = DurationHistogram()
    private val corrections = DoubleArray(Place.entries.size) { 1.0 }
    private var surprises = 0
    private var pausedInARow = 0

    val known: Boolean
        get() = batches > 0

    /** Whether the cold batches, with class loading and interpreted code, are over. */
    val warm: Boolean
        get() = batches > COLD_BATCHES

    /** Whether the site blocked recently enough to be remembered. */
    val mayBlock: Boolean
        get() = blockedMemory > FORGOTTEN

    /** Time in ns per item for which a thread uses its processor. The wall time if CPU time was never measured. */
    val cpuOrWallNs: Double
        get() = if (itemCpuNs.isNaN()) itemNs else minOf(itemCpuNs, itemNs)

    /** Returns the factor for predictions for `place`, from the errors of earlier ones. */
    fun correction(place: Place): Double = corrections[place.ordinal]

    fun observe(seen: Observation) {
        if (seen.items == 0) return
        // A site that allocates much is stopped in every batch. The stops are then part of its cost.
        if (seen.paused && known && ++pausedInARow < PAUSES_BELIEVED) return
        pausedInARow = 0
        val observedNs = seen.itemsNs.toDouble() / seen.items
        if (!warm) replace(observedNs, seen)
        else if (isSurprise(observedNs)) surprise(observedNs, seen) else follow(observedNs, seen)
        learnBlocking(seen)
        learnCorrection(seen)
        batches++
    }

    /** Replaces everything by this observation. Cold observations do not mix into later ones. */
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
     * Whether the time is less than half or more than double the known one: the site changed, a method was compiled, or
     * the batch is an outlier.
     */
    private fun isSurprise(observedNs: Double) = observedNs > itemNs * SURPRISE || observedNs < itemNs / SURPRISE

    /**
     * Handles a surprise. The second in a row is believed completely; the first moves the mean as any other does, so
     * that one outlier changes little.
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

    /**
     * Learns the CPU time. If all processors were busy, threads also waited for one: then the wall time says nothing
     * about sleep, and only CPU time counts.
     */
    private fun learnCpu(seen: Observation, gain: Double) {
        if (seen.cpuItems == 0) return
        val cpuNs = minOf(seen.cpuNs, seen.cpuWallNs).toDouble() / seen.cpuItems
        itemCpuNs = if (itemCpuNs.isNaN()) cpuNs else itemCpuNs + (cpuNs - itemCpuNs) * gain
    }

    private fun learnBlocking(seen: Observation) {
        val asleepNs =
            if (seen.cpuItems == 0 || seen.crowded) 0.0 else (seen.cpuWallNs - seen.cpuNs - seen.waitedNs).toDouble()
        val blocked = seen.slept || (asleepNs > (seen.cpuWallNs - seen.waitedNs) * ASLEEP_SHARE && asleepNs > ASLEEP_NS)
        blockedMemory = if (blocked) 1.0 else blockedMemory * FADE
    }

    private fun learnCorrection(seen: Observation) {
        for (place in Place.entries) {
            val i = place.ordinal
            if (place != seen.place) corrections[i] += (1.0 - corrections[i]) * RETRY
            else if (seen.predictedNs > 0 && !seen.grew && !seen.crowded) {
                val ratio = (seen.elapsedNs / seen.predictedNs).coerceIn(1 / CORRECTION, CORRECTION)
                corrections[i] += (ratio - corrections[i]) * CORRECTION_GAIN
            }
        }
    }

    companion object {
        /**
         * Number of first batches that load classes and run interpreted. They took 10 to 1,000 times as long as a warm
         * one.
         */
        const val COLD_BATCHES: Int = 3
        /**
         * About eight batches are remembered: an outlier moves the mean by an eighth, and a change takes a few batches.
         */
        private const val GAIN = 0.125
        private const val SURPRISE = 2.0
        private const val SURPRISES_BELIEVED = 2
        private const val LEAP = 4.0
        /** After this many paused batches in a row, garbage collection counts as part of the site's cost. */
        private const val PAUSES_BELIEVED = 4
        /** A sleep must be longer than the precision of timers and clocks, and than preemption by one other thread. */
        private const val ASLEEP_SHARE = 0.6
        private const val ASLEEP_NS = 20_000.0
        /** 1 fades to [FORGOTTEN] in 190 batches. */
        private const val FADE = 63.0 / 64
        private const val FORGOTTEN = 0.05
        private const val CORRECTION = 4.0
        private const val CORRECTION_GAIN = 0.4
        /** A place that was slower than predicted is tried again after about 40 batches. That costs at most 2 %. */
        private const val RETRY = 1.0 / 64
    }
}
