// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/**
 * Statistics of one call site. Pure: its state depends only on the observations and their order. Not for several
 * threads at once; allocates nothing after construction.
 */
internal class SiteModel {
    /** Wall time an item, ns; NaN until one was seen. */
    var itemNs: Double = Double.NaN
        private set

    /** CPU time an item, ns; NaN until a CPU clock was read. */
    var itemCpuNs: Double = Double.NaN
        private set

    /** Batches learnt from; those that the collector disturbed are not among them. */
    var batches: Int = 0
        private set

    /** 1 when the site was last seen to block; fades with every batch that did not. */
    var blockedMemory: Double = 0.0
        private set

    val durations: DurationHistogram = DurationHistogram()
    private val corrections = DoubleArray(Place.entries.size) { 1.0 }
    private var surprises = 0
    private var pausedInARow = 0

    val known: Boolean
        get() = batches > 0

    /** Past quarantine: class loading and interpretation are behind it. */
    val warm: Boolean
        get() = batches > COLD_BATCHES

    /** Whether the site blocked within living memory. */
    val mayBlock: Boolean
        get() = blockedMemory > FORGOTTEN

    /** ns an item that a thread holds its processor; all of them where that was never measured and nothing slept. */
    val cpuOrWallNs: Double
        get() = if (itemCpuNs.isNaN()) itemNs else minOf(itemCpuNs, itemNs)

    /** Correction factor of predictions for `place`, from the outcomes of earlier ones. */
    fun correction(place: Place): Double = corrections[place.ordinal]

    fun observe(seen: Observation) {
        if (seen.items == 0) return
        // A site that allocates much is stopped in every batch: the stops are then part of what it costs.
        if (seen.paused && known && ++pausedInARow < PAUSES_BELIEVED) return
        pausedInARow = 0
        val observedNs = seen.itemsNs.toDouble() / seen.items
        if (!warm) replace(observedNs, seen)
        else if (isSurprise(observedNs)) surprise(observedNs, seen) else follow(observedNs, seen)
        learnBlocking(seen)
        learnCorrection(seen)
        batches++
    }

    /** A cold sample stands only until the next: none of them is mixed into what is learnt later. */
    private fun replace(observedNs: Double, seen: Observation) {
        itemNs = observedNs
        durations.clear()
        count(observedNs, seen)
        itemCpuNs = Double.NaN
        learnCpu(seen, 1.0)
        surprises = 0
        if (batches >= COLD_BATCHES) corrections.fill(1.0)
    }

    /** Half or double what is known: a site that changed, a method that was compiled, or an odd batch. */
    private fun isSurprise(observedNs: Double) = observedNs > itemNs * SURPRISE || observedNs < itemNs / SURPRISE

    /**
     * The second in a row is believed whole; the first moves the mean as any other, so that one odd batch changes
     * little.
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

    /** In a crowd a thread waits for a processor as well: then the wall says nothing of sleep, only CPU time counts. */
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
        /** The first batches of a site load its classes and run interpreted: they took 10 to 1,000 times a warm one. */
        const val COLD_BATCHES: Int = 3
        /** About eight batches are remembered: an odd one moves the mean by an eighth, a change is followed in some. */
        private const val GAIN = 0.125
        private const val SURPRISE = 2.0
        private const val SURPRISES_BELIEVED = 2
        private const val LEAP = 4.0
        /** In as many batches in a row the collector is not a disturbance. */
        private const val PAUSES_BELIEVED = 4
        /** Asleep by more than a timer's or a clock's grain, and by more than preemption by one other thread makes. */
        private const val ASLEEP_SHARE = 0.6
        private const val ASLEEP_NS = 20_000.0
        /** 1 fades to [FORGOTTEN] in 190 batches. */
        private const val FADE = 63.0 / 64
        private const val FORGOTTEN = 0.05
        private const val CORRECTION = 4.0
        private const val CORRECTION_GAIN = 0.4
        /**
         * A place that came out worse than predicted is tried again after some 40 batches: at most 2 % is lost by it.
         */
        private const val RETRY = 1.0 / 64
    }
}
