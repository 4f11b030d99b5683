// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/** Predicts how long a batch of `size` items takes in each place, in ns, from the measurements of the site. Pure. */
internal class Prediction(private val site: SiteModel, private val costs: Costs, private val size: Int) {
    private val workNs = site.itemNs * size
    private val cpuNs = site.cpuOrWallNs * size

    /** No batch ends before its longest item. This is about the median of the longest of `size` items. */
    private val longestNs: Double = run {
        // `atMostNs` returns a bucket's upper end. Three quarters of it is the bucket's middle.
        val upper = site.durations.atMostNs(1.0 - 0.5 / size) * 0.75
        minOf(maxOf(upper, site.itemNs), workNs)
    }

    /**
     * How long the other threads wait for the thread with the longest item, if that is claimed last: Graham's bound for
     * claims in order. Items of one kind end half an item apart; a bucket is a factor of two wide.
     */
    private val tailNs: Double = maxOf(site.itemNs / 2, longestNs - site.itemNs * SAME_KIND)

    fun inlineNs(): Double = workNs

    fun cpuNs(helpers: Int): Double = sharedNs(helpers, costs.offerNs, costs.wakeNs)

    fun elasticNs(helpers: Int): Double = sharedNs(helpers, costs.startNs, costs.startedNs)

    /**
     * Returns the time with `helpers` helpers. The caller hands over to one helper after another and then starts; a
     * helper starts when it is awake. Helpers that come too late cost only their hand-over. Takes time in proportion to
     * `helpers`.
     */
    private fun sharedNs(helpers: Int, handNs: Long, awakeNs: Long): Double {
        val (threads, endNs) = joinedNs(helpers, handNs, awakeNs)
        if (threads == 1) return endNs
        return maxOf(endNs + tailNs * (1.0 - 1.0 / threads), processorsNs(threads), longestNs + awakeNs)
    }

    /** Returns how many threads come in time, and when they finish if all items take the same time. */
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

    /** Whether more threads than processors can help at all. */
    val sleeps: Boolean
        get() = site.mayBlock || cpuNs < workNs * RUNS

    /**
     * Returns [elasticNs] without the longest item, which no number of threads shortens. A single outlier would
     * otherwise hide that all the other items end sooner.
     */
    private fun spreadNs(helpers: Int): Double {
        val (threads, endNs) = joinedNs(helpers, costs.startNs, costs.startedNs)
        return maxOf(endNs, processorsNs(threads))
    }

    /** Returns the fastest number of elastic threads, in steps of a half up to one per item. */
    fun elasticHelpers(): Int {
        val most = minOf(size - 1, costs.elasticMax)
        var best = minOf(1, most)
        var bestNs = spreadNs(best)
        var helpers = best
        while (helpers < most) {
            helpers += helpers / 2 + 1
            val tried = minOf(helpers, most)
            val ns = spreadNs(tried)
            if (ns < bestNs * WORTH_MORE_THREADS) {
                best = tried
                bestNs = ns
            }
        }
        return best
    }

    /** Returns a time that hardly any batch exceeds, for guarantees to an event thread. */
    fun atWorstNs(): Double = if (!site.known) Double.POSITIVE_INFINITY else maxOf(workNs * 2, longestNs * 2)

    companion object {
        private const val SAME_KIND = 1.5
        /** Work that uses its processor for more than this share of its time does not gain from more threads. */
        private const val RUNS = 0.9
        /** More threads cost other work. Adding half as many again must gain at least 2 %. */
        private const val WORTH_MORE_THREADS = 0.98
    }
}
