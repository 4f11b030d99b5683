// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/** How long a batch of `size` items takes in each place, ns, by what is known of the site. Pure. */
internal class Prediction(private val site: SiteModel, private val costs: Costs, private val size: Int) {
    private val workNs = site.itemNs * size
    private val cpuNs = site.cpuOrWallNs * size

    /** No batch ends before its longest item does: the one of `size` that half of such batches have. */
    private val longestNs: Double = run {
        // Buckets are named by their upper end: three quarters of it is the middle.
        val upper = site.durations.atMostNs(1.0 - 0.5 / size) * 0.75
        minOf(maxOf(upper, site.itemNs), workNs)
    }

    /**
     * How long the others wait for the thread that has the longest item, when it is claimed last: Graham's bound for
     * claiming in order. Items of one kind end half an item apart; a bucket is a factor of two wide.
     */
    private val tailNs: Double = maxOf(site.itemNs / 2, longestNs - site.itemNs * SAME_KIND)

    fun inlineNs(): Double = workNs

    fun cpuNs(helpers: Int): Double = sharedNs(helpers, costs.offerNs, costs.wakeNs)

    fun elasticNs(helpers: Int): Double = sharedNs(helpers, costs.startNs, costs.startedNs)

    /**
     * The caller hands over to one helper after another and begins then; a helper begins when it is awake. Helpers that
     * come when all is done have cost their hand-over and nothing more. Takes time in proportion to `helpers`.
     */
    private fun sharedNs(helpers: Int, handNs: Long, awakeNs: Long): Double {
        val (threads, endNs) = joinedNs(helpers, handNs, awakeNs)
        if (threads == 1) return endNs
        return maxOf(endNs + tailNs * (1.0 - 1.0 / threads), processorsNs(threads), longestNs + awakeNs)
    }

    /** How many threads come in time, and when they are done if no item is longer than another. */
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

    /** Whether more threads than processors can be of use at all. */
    val sleeps: Boolean
        get() = site.mayBlock || cpuNs < workNs * RUNS

    /**
     * [elasticNs] but for the longest item, which no number of threads makes shorter: one odd sample of it would hide
     * that all the others end sooner.
     */
    private fun spreadNs(helpers: Int): Double {
        val (threads, endNs) = joinedNs(helpers, costs.startNs, costs.startedNs)
        return maxOf(endNs, processorsNs(threads))
    }

    /** The number of elastic threads that is quickest, among steps of a half and one an item. */
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

    /** A time that almost no batch exceeds; for promises to an event thread. */
    fun atWorstNs(): Double = if (!site.known) Double.POSITIVE_INFINITY else maxOf(workNs * 2, longestNs * 2)

    companion object {
        private const val SAME_KIND = 1.5
        /** Work that uses its processor for more than this share of its time gains nothing from further threads. */
        private const val RUNS = 0.9
        /** Threads are not free for others: half as many again for less than 2 % are not taken. */
        private const val WORTH_MORE_THREADS = 0.98
    }
}
