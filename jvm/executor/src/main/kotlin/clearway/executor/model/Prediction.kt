// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

import kotlin.math.floor

/**
 * Predicts how long a batch of `size` items takes in each place, in ns, from the measurements of the site (one kind of
 * work). It has no side effects.
 */
internal class Prediction(private val site: SiteModel, private val costs: Costs, private val size: Int) {
    private val workNs = site.itemNs * size
    private val cpuNs = site.cpuOrWallNs * size

    /**
     * Estimated duration of the batch's longest item, in ns: about the median of the longest of `size` items. No batch
     * ends before its longest item.
     */
    private val longestNs: Double = run {
        // `atMostNs` returns a bucket's upper end. Three quarters of it is the bucket's middle.
        val upper = site.durations.atMostNs(1.0 - 0.5 / size) * 0.75
        minOf(maxOf(upper, site.itemNs), workNs)
    }

    /**
     * Time in ns that other threads wait at the end for the thread with the longest item, if that item is claimed last.
     * This is Graham's bound for claims in order. If all items take the same time, threads end half an item apart.
     * Durations of up to [SAME_KIND] times the mean count as the same, because a histogram bucket is a factor of two
     * wide.
     */
    private val tailNs: Double = maxOf(site.itemNs / 2, longestNs - site.itemNs * SAME_KIND)

    fun inlineNs(): Double = workNs

    fun cpuNs(helpers: Int): Double = sharedNs(helpers, costs.offerNs, costs.wakeNs)

    fun elasticNs(helpers: Int): Double = sharedNs(helpers, costs.startNs, costs.startedNs)

    /**
     * Returns the batch's predicted time in ns with `helpers` helpers. The caller hands over to one helper after
     * another and then starts its own work. A helper starts when it is awake. A helper that comes too late costs only
     * its hand-over. The calculation takes time in proportion to `helpers`.
     */
    private fun sharedNs(helpers: Int, handNs: Long, awakeNs: Long): Double {
        val (threads, endNs) = joinedNs(helpers, handNs, awakeNs)
        if (threads == 1) return endNs
        return maxOf(endNs + tailNs * (1.0 - 1.0 / threads), processorsNs(threads), longestNs + awakeNs)
    }

    /**
     * Returns how many threads join before the batch ends, including the caller. Also returns the time in ns at which
     * the batch ends, if all items take the same time.
     */
    private fun joinedNs(helpers: Int, handNs: Long, awakeNs: Long): Pair<Int, Double> {
        var lateNs = handNs.toDouble() * helpers
        var threads = 1
        var endNs = workNs + lateNs
        while (threads <= helpers) {
            val comesNs = handNs.toDouble() * threads + awakeNs
            if (comesNs >= endNs) break
            lateNs += comesNs
            threads++
            endNs = (workNs + lateNs) / threads
        }
        return threads to endNs
    }

    private fun processorsNs(threads: Int) = cpuNs / minOf(threads, costs.processors)

    /** Whether items sleep, so that more threads than processors can help. */
    val sleeps: Boolean
        get() = site.mayBlock || cpuNs < workNs * RUNS

    /**
     * Returns [elasticNs] without the limits that the longest item sets. More threads do not shorten that item. With
     * these limits, one outlier would hide that more threads end all the other items sooner.
     */
    private fun spreadNs(helpers: Int): Double {
        val (threads, endNs) = joinedNs(helpers, costs.startNs, costs.startedNs)
        return maxOf(endNs, processorsNs(threads))
    }

    /**
     * Returns when the last item ends, in ns, if all items take the same time. In contrast to [spreadNs], no item is
     * divided among threads: with 93 threads, the last 7 of 100 items begin only when the first 7 have ended, and the
     * batch takes twice as long as with 100 threads.
     */
    private fun wholeItemsNs(helpers: Int): Double {
        val spread = spreadNs(helpers)
        if (size / (helpers + 1) >= MANY_ROUNDS) return spread + site.itemNs / 2
        // Whole items end later than divided ones, by less than an item.
        var tooShort = spread
        var enough = spread + site.itemNs
        repeat(HALVINGS) {
            val tried = (tooShort + enough) / 2
            if (endedUntil(tried, helpers) >= size) enough = tried else tooShort = tried
        }
        return enough
    }

    /**
     * Returns how many items have ended until `ns`, if that is less than [size]; otherwise any number that is not less.
     * Each step counts an item, so that items of any length, also of 0 ns, need at most [size] steps.
     */
    private fun endedUntil(ns: Double, helpers: Int): Double {
        var ended = maxOf(0.0, floor((ns - costs.startNs.toDouble() * helpers) / site.itemNs))
        var spareNs = ns - costs.startedNs - site.itemNs
        while (spareNs >= costs.startNs && ended < size) {
            // The helpers that have ended one more item: those that started before `spareNs`.
            ended += minOf(helpers.toDouble(), floor(spareNs / costs.startNs))
            spareNs -= site.itemNs
        }
        return ended
    }

    /**
     * Returns the number of elastic threads (extra threads, for items that block) with the shortest predicted time.
     * Tries numbers that grow by half each time, up to one thread per item.
     */
    fun elasticHelpers(): Int {
        val most = minOf(size - 1, costs.elasticMax)
        var best = minOf(1, most)
        var bestNs = wholeItemsNs(best)
        var helpers = best
        while (helpers < most) {
            helpers += helpers / 2 + 1
            val tried = minOf(helpers, most)
            val ns = wholeItemsNs(tried)
            if (ns < bestNs * WORTH_MORE_THREADS) {
                best = tried
                bestNs = ns
            }
        }
        // The last threads cost little. Without them, a too high measurement of the cost of a start would make the last
        // items wait for a second round.
        return if (best * 2 > most && (most - best) * costs.startNs <= site.itemNs / FEW_STARTS) most else best
    }

    /**
     * Returns a time in ns that hardly any batch exceeds on the calling thread. It serves to keep long work off event
     * threads. Returns infinity if the site is unknown.
     */
    fun atWorstNs(): Double = if (!site.known) Double.POSITIVE_INFINITY else maxOf(workNs * 2, longestNs * 2)

    companion object {
        /** The longest item counts as longer than the others only above this multiple of the mean. */
        private const val SAME_KIND = 1.5
        /**
         * Work that uses its processor for at least this share of its time does not gain from more threads than
         * processors.
         */
        private const val RUNS = 0.9
        /**
         * From this many items per thread on, whole items end half an item after divided ones, on average. That is at
         * most an eighth of the time, and the exact calculation would cost more than it gains.
         */
        private const val MANY_ROUNDS = 4
        /** One thread per item is preferred if the starts that it adds take at most this part of an item. */
        private const val FEW_STARTS = 8
        /** Halvings of an item's time: the result is precise to a 64th of an item. */
        private const val HALVINGS = 6
        /**
         * An increase of the threads by half must shorten the batch by at least 2 %, because more threads slow other
         * work down.
         */
        private const val WORTH_MORE_THREADS = 0.98
    }
}

/**
 * The costs of moving work between threads on this machine, in ns. The executor measures them at start-up and updates
 * them after batches. The defaults were measured on two virtual cores.
 */
internal data class Costs(
    /** Number of threads that can run at the same time. A cgroup's quota limits it. */
    val processors: Int,
    /** Cost of one reading of the monotonic clock. */
    val clockNs: Long = 30,
    /** Cost of one reading of the thread's CPU clock, which is a system call. */
    val cpuClockNs: Long = 600,
    /** Cost of handing a batch to one parked CPU worker, for the calling thread. */
    val offerNs: Long = 5_000,
    /** Time from the hand-over until a parked CPU worker claims its first item. */
    val wakeNs: Long = 40_000,
    /**
     * Cost of handing a batch to one elastic thread (an extra thread, for items that block), for the calling thread.
     */
    val startNs: Long = 10_000,
    /** Time from the hand-over until an elastic thread claims its first item. */
    val startedNs: Long = 60_000,
    /** Maximum number of elastic threads of one batch. */
    val elasticMax: Int = 256,
)
