// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/** How to run one batch. */
internal class Plan(
    val place: Place,
    /** Number of threads that are asked at once to join the caller. */
    val helpers: Int,
    /** Number of items per claim. */
    val chunk: Int,
    /**
     * Whether a chunk's items are so short that a thread claims them together. They are taken back only if the thread
     * is stuck.
     */
    val bulk: Boolean,
    val timeItems: Boolean,
    val timeBatch: Boolean,
    val readCpu: Boolean,
    /** Time in ns after which the caller asks the CPU workers to help with the remaining items. */
    val beatNs: Long,
    /** Number of items between two readings of the clock for the beat. */
    val lookEvery: Int,
    val predictedNs: Double,
    /** Number of batches of this size that the plan serves before the next planning. */
    val serves: Int = 1,
    /** Whether little is known of the site. Then everything measurable is measured, at any cost. */
    val cold: Boolean = false,
) {
    /** Whether the batch is so short that no other thread is notified of it, unless it turns out longer. */
    val alone: Boolean
        get() = serves > 1
}

/** Chooses a place with hysteresis, and measurements of negligible cost. Pure, except for its state. */
internal class Planner(private val site: SiteModel) {
    private var current = Place.INLINE
    private var untimed = 0

    fun plan(size: Int, costs: Costs): Plan {
        if (!site.known || size <= 1) return first(size, costs)
        val prediction = Prediction(site, costs, size)
        val cpuHelpers = minOf(costs.processors - 1, size - 1)
        val elasticHelpers = if (prediction.sleeps) prediction.elasticHelpers() else 0
        fun raw(place: Place) =
            when (place) {
                Place.INLINE -> prediction.inlineNs()
                Place.CPU -> if (cpuHelpers == 0) Double.POSITIVE_INFINITY else prediction.cpuNs(cpuHelpers)
                Place.ELASTIC ->
                    if (elasticHelpers == 0) Double.POSITIVE_INFINITY else prediction.elasticNs(elasticHelpers)
            }
        // A batch that others may join is planned, published and learnt from each time. For batches that the caller
        // runs alone, one plan serves many. Without this term, such batches would seem cheaper on workers, because they
        // keep the workers awake: a hand-over then costs 0.1 us.
        val aroundNs = if (runsInBulk && site.itemNs * size <= CHUNK_NS) LEARN_NS else 0
        fun whole(place: Place) = raw(place) * site.correction(place) + if (place == Place.INLINE) 0 else aroundNs
        var best = Place.INLINE
        for (place in PLACES) if (whole(place) < whole(best)) best = place
        if (whole(best) < whole(current) * WORTH_A_CHANGE) current = best
        val place = current
        val helpers =
            when (place) {
                Place.INLINE -> 0
                Place.CPU -> cpuHelpers
                Place.ELASTIC -> elasticHelpers
            }
        return measured(place, helpers, size, costs, raw(place))
    }

    /** Whether items are reliably so short that a thread claims many at once. */
    private val runsInBulk: Boolean
        get() = site.warm && !site.mayBlock && site.itemNs < BULK_BELOW_NS

    /**
     * Returns the plan for an unknown site: item by item, all timed. The workers are asked after twice the time of
     * waking them.
     */
    private fun first(size: Int, costs: Costs): Plan {
        val known = site.known
        return Plan(
            Place.INLINE,
            helpers = 0,
            chunk = 1,
            bulk = false,
            timeItems = !known || site.itemNs > costs.clockNs * 2 / MEASURED_SHARE,
            timeBatch = true,
            readCpu = !known || site.itemNs * size > costs.cpuClockNs * 2 / MEASURED_SHARE,
            beatNs = costs.wakeNs * 2,
            lookEvery = 1,
            predictedNs = if (known) site.itemNs * size else 0.0,
            cold = !site.warm,
        )
    }

    private fun measured(place: Place, helpers: Int, size: Int, costs: Costs, predictedNs: Double): Plan {
        val itemNs = maxOf(site.itemNs, 1.0)
        val workNs = itemNs * size
        val perChunk = (CHUNK_NS / itemNs).coerceIn(1.0, size.toDouble()).toInt()
        val bulk = runsInBulk
        val timeItems = itemNs > costs.clockNs * 2 / MEASURED_SHARE
        // Times batches rarely enough that timing costs less than a hundredth, but at least one in SELDOM.
        val every = ((costs.clockNs * 2 + LEARN_NS) / (MEASURED_SHARE * workNs)).toInt().coerceAtMost(SELDOM)
        // While the model remembers that the site blocked, items are claimed one by one, which costs as much as timing
        // the batch. The model forgets it after about 200 timed batches. When one in a hundred was timed, that took
        // 13,000 batches.
        val timeBatch = timeItems || !site.warm || site.mayBlock || ++untimed > every
        if (timeBatch) untimed = 0
        val chunk =
            when {
                !bulk -> 1
                helpers == 0 -> perChunk
                else -> minOf(perChunk, maxOf(1, size / ((helpers + 1) * SHARES)))
            }
        val serves = if (bulk && helpers == 0 && chunk == size && !timeBatch) every - untimed + 1 else 1
        untimed += serves - 1
        return Plan(
            place,
            helpers,
            chunk,
            bulk && chunk > 1,
            timeItems,
            timeBatch,
            readCpu = timeBatch && workNs / (helpers + 1) > costs.cpuClockNs * 2 / MEASURED_SHARE,
            beatNs = (predictedNs * 2 + costs.wakeNs * 2).toLong(),
            lookEvery = perChunk,
            predictedNs,
            serves,
            cold = !site.warm,
        )
    }

    /** Times the next batch at any cost, because the last was unusual. */
    fun timeNext() {
        untimed = SELDOM
    }

    companion object {
        private val PLACES = Place.entries.toTypedArray()
        /**
         * Changes the place only if another is faster by more than this. The limit is below the accepted loss (1.10).
         */
        private const val WORTH_A_CHANGE = 0.94
        /** Measuring takes at most a hundredth of the measured time. */
        private const val MEASURED_SHARE = 0.01
        /** Maximum number of trivial batches between two timed ones. */
        private const val SELDOM = 255
        /** The cost of planning a batch, of publishing it and of learning from it: about 1.5 us. */
        private const val LEARN_NS = 1_500
        /**
         * Time between claims in ns. Neither claims nor a late reading of the clock are noticeable: 10 ns and 30 ns in
         * 20 us.
         */
        private const val CHUNK_NS = 20_000.0
        /**
         * Maximum duration of items that are claimed in bulk. A claim takes 5 to 10 ns, which is over 3 % of a shorter
         * item.
         */
        private const val BULK_BELOW_NS = 300.0
        /** Number of claims per thread, so that the last thread to come still finds work. */
        private const val SHARES = 4
    }
}
