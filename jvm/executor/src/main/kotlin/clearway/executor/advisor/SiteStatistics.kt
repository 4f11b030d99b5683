// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.advisor

import clearway.executor.model.Costs
import clearway.executor.model.Place
import clearway.executor.model.Prediction
import clearway.executor.model.SiteModel

/** How often the last bursts would have been quicker elsewhere, and how much: time here over predicted time there. */
internal class Ratios {
    private val kept = DoubleArray(KEPT)
    private var next = 0

    var count: Int = 0
        private set

    fun add(ratio: Double) {
        kept[next] = ratio
        next = (next + 1) % KEPT
        count = minOf(count + 1, KEPT)
    }

    /** The quantile by nearest rank; 0 where there are none. */
    fun quantile(q: Double): Double {
        if (count == 0) return 0.0
        val sorted = kept.copyOf(count).sortedArray()
        return sorted[(count * q).toInt().coerceAtMost(count - 1)]
    }

    fun over(ratio: Double): Int = (0 until count).count { kept[it] > ratio }

    private companion object {
        /** Enough for quartiles that stand still, and forgotten within a minute at one burst a second. */
        const val KEPT = 64
    }
}

/**
 * What is learnt of one site, from its bursts in the order of their ends. Pure; its owner locks it. The costs of waking
 * and of handing over are those that the watched executor showed.
 */
internal class SiteStatistics(private var costs: Costs) {
    val model: SiteModel = SiteModel()
    val ratios: Map<Place, Ratios> = Place.entries.associateWith { Ratios() }

    var tasks: Long = 0
        private set

    var bursts: Long = 0
        private set

    /** Bursts in whose tasks threads slept. */
    var sleptBursts: Long = 0
        private set

    var fromEventThread: Boolean = false
        private set

    var threads: Int = 0
        private set

    /** Means over some of the last bursts; ns, but for the size. */
    val size: Follower = Follower()
    val elapsedNs: Follower = Follower()
    val waitNs: Follower = Follower()
    val handNs: Follower = Follower()

    fun burst(burst: Burst, collections: Long) {
        if (burst.done == 0) return
        tasks += burst.done
        bursts++
        fromEventThread = fromEventThread || burst.fromEventThread
        threads = maxOf(threads, burst.threads)
        size.follow(burst.done.toDouble())
        elapsedNs.follow(burst.elapsedNs.toDouble())
        waitNs.follow(burst.waitedNs.toDouble() / burst.done)
        handNs.follow(burst.handedNs.toDouble() / burst.done)
        val seen = burst.observation(costs.processors, collections)
        if (!seen.crowded && seen.cpuItems > 0 && seen.cpuWallNs - seen.cpuNs > seen.cpuWallNs * ASLEEP) sleptBursts++
        model.observe(seen)
        learnCosts(burst)
        if (model.warm && !seen.paused) compare(burst)
    }

    private fun learnCosts(burst: Burst) {
        val offered = handNs.mean.toLong().coerceAtLeast(1)
        val waking = if (burst.firstWaitNs > 0) burst.firstWaitNs.coerceAtMost(costs.wakeNs * CAP) else costs.wakeNs
        costs = costs.copy(offerNs = offered, wakeNs = costs.wakeNs + (waking - costs.wakeNs) / MEMORY)
    }

    private fun compare(burst: Burst) {
        val prediction = Prediction(model, costs, burst.done)
        for (place in PLACES) {
            val thereNs = ns(prediction, place, burst.done, burst.callersSeen)
            if (thereNs > 0) ratios.getValue(place).add(burst.elapsedNs / thereNs)
        }
    }

    /** Predicted time of a burst of this size by one caller in that place, ns; 0 if unknown. */
    fun predictedNs(place: Place, size: Int): Double =
        if (model.known) ns(Prediction(model, costs, size), place, size, callers = 1) else 0.0

    private fun ns(prediction: Prediction, place: Place, size: Int, callers: Int): Double =
        when (place) {
            // Several callers that do their own work do it at the same time.
            Place.INLINE -> prediction.inlineNs() / minOf(maxOf(1, callers), costs.processors)
            Place.CPU -> prediction.cpuNs(minOf(costs.processors - 1, size - 1))
            Place.ELASTIC -> prediction.elasticNs(prediction.elasticHelpers())
        }

    /** A time that almost no burst of that size exceeds on its caller's thread. */
    fun atWorstNs(size: Int): Double = Prediction(model, costs, size).atWorstNs()

    private companion object {
        val PLACES = Place.entries
        /** As the model's own judgement of a batch that blocked. */
        const val ASLEEP = 0.6
        const val CAP = 4
        const val MEMORY = 16
    }
}

/** A mean that follows: about sixteen values are remembered. NaN before the first. */
internal class Follower {
    var mean: Double = Double.NaN
        private set

    fun follow(value: Double) {
        mean = if (mean.isNaN()) value else mean + (value - mean) / MEMORY
    }

    private companion object {
        const val MEMORY = 16
    }
}
