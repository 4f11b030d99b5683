// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/** How to run one batch. */
internal class Plan(
    val place: Placement,
    /** Number of threads that are asked to join the caller when the batch starts. */
    val helpers: Int,
    /** Number of items per claim. */
    val chunk: Int,
    /**
     * Whether a thread claims a whole chunk at once, because the items are short. Other threads take items of the chunk
     * back only if that thread is stuck.
     */
    val bulk: Boolean,
    val timeItems: Boolean,
    val timeBatch: Boolean,
    val readCpu: Boolean,
    /** Time in ns after which the caller asks the CPU workers to help with the remaining items. */
    val helpAfterNs: Long,
    /** Number of items that the caller runs between two clock readings. They show when it is time to ask for help. */
    val clockEvery: Int,
    val predictedNs: Double,
    /** Number of batches of this size that use this plan before the planner plans again. */
    val serves: Int = 1,
    /**
     * Whether the site has run only cold batches so far: they load classes and run interpreted code. The next batch of
     * such a site is always timed.
     */
    val cold: Boolean = false,
) {
    /**
     * Whether the caller runs the batch alone, because it is short. Other threads join only if the watchdog finds that
     * the batch takes long.
     */
    val alone: Boolean
        get() = serves > 1
}

/**
 * Plans the batches of one site (one kind of work): chooses where they run and what they measure. It changes the place
 * only for a clear gain, and keeps the cost of measuring negligible. It changes only its own state.
 */
internal class Planner(private val site: SiteModel) {
    private var current = Placement.INLINE
    private var untimed = 0

    fun plan(size: Int, costs: Costs): Plan {
        if (!site.known || size <= 1) return first(size, costs)
        val prediction = Prediction(site, costs, size)
        val cpuHelpers = minOf(costs.processors - 1, size - 1)
        val elasticHelpers = if (prediction.sleeps) prediction.elasticHelpers() else 0
        fun raw(place: Placement) =
            when (place) {
                Placement.INLINE -> prediction.inlineNs()
                Placement.CPU -> if (cpuHelpers == 0) Double.POSITIVE_INFINITY else prediction.cpuNs(cpuHelpers)
                Placement.ELASTIC ->
                    if (elasticHelpers == 0) Double.POSITIVE_INFINITY else prediction.elasticNs(elasticHelpers)
            }
        // Adds the cost of planning, publishing and learning to the places with several threads, because each of their
        // batches pays it. Trivial batches that the caller runs alone share one plan. Without this term, trivial
        // batches would seem cheaper on workers: frequent batches keep the workers awake, and a hand-over to an awake
        // worker costs only 0.1 us.
        val aroundNs = if (runsInBulk && site.itemNs * size <= CHUNK_NS) LEARN_NS else 0
        fun whole(place: Placement) =
            raw(place) * site.correction(place) + if (place == Placement.INLINE) 0 else aroundNs
        var best = Placement.INLINE
        for (place in PLACES) if (whole(place) < whole(best)) best = place
        if (whole(best) < whole(current) * WORTH_A_CHANGE) current = best
        val place = current
        val helpers =
            when (place) {
                Placement.INLINE -> 0
                Placement.CPU -> cpuHelpers
                Placement.ELASTIC -> elasticHelpers
            }
        return measured(place, helpers, size, costs, raw(place))
    }

    /** Whether items are reliably so short that a thread should claim many at once. */
    private val runsInBulk: Boolean
        get() = site.warm && !site.mayBlock && site.itemNs < BULK_BELOW_NS

    /**
     * Returns the plan for an unknown site or a single item. The caller runs the items one by one; all items of an
     * unknown site are timed. The caller asks the workers for help after twice the time that waking them takes.
     */
    private fun first(size: Int, costs: Costs): Plan {
        val known = site.known
        return Plan(
            Placement.INLINE,
            helpers = 0,
            chunk = 1,
            bulk = false,
            timeItems = !known || site.itemNs > costs.clockNs * 2 / MEASURED_SHARE,
            timeBatch = true,
            readCpu = !known || site.itemNs * size > costs.cpuClockNs * 2 / MEASURED_SHARE,
            helpAfterNs = costs.wakeNs * 2,
            clockEvery = 1,
            predictedNs = if (known) site.itemNs * size else 0.0,
            cold = !site.warm,
        )
    }

    private fun measured(place: Placement, helpers: Int, size: Int, costs: Costs, predictedNs: Double): Plan {
        val itemNs = maxOf(site.itemNs, 1.0)
        val workNs = itemNs * size
        val perChunk = (CHUNK_NS / itemNs).coerceIn(1.0, size.toDouble()).toInt()
        val bulk = runsInBulk
        val timeItems = itemNs > costs.clockNs * 2 / MEASURED_SHARE
        // Times so few batches that timing costs less than 1 % of their work, but at least about one batch in SELDOM.
        val every = ((costs.clockNs * 2 + LEARN_NS) / (MEASURED_SHARE * workNs)).toInt().coerceAtMost(SELDOM)
        // Times every batch while the model remembers that the site blocked. Items are then claimed one by one, which
        // costs as much as timing the batch. The model forgets after about 200 timed batches. With fewer timed batches,
        // forgetting took up to 13,000 batches.
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
            helpAfterNs = (predictedNs * 2 + costs.wakeNs * 2).toLong(),
            clockEvery = perChunk,
            predictedNs,
            serves,
            cold = !site.warm,
        )
    }

    /** Makes the next plan time its batch. Called after an unusual batch. */
    fun timeNext() {
        untimed = SELDOM
    }

    companion object {
        private val PLACES = Placement.entries.toTypedArray()
        /**
         * The place changes only if the other place needs less than this share of the present place's time. Without a
         * change, the loss stays below the accepted one (a factor of 1.10).
         */
        private const val WORTH_A_CHANGE = 0.94
        /** Maximum cost of measuring, as a share of the measured time. */
        private const val MEASURED_SHARE = 0.01
        /** Maximum number of trivial batches between two timed ones. */
        private const val SELDOM = 255
        /** Cost in ns of planning a batch, publishing it and learning from it: about 1.5 us. */
        private const val LEARN_NS = 1_500
        /**
         * Intended duration of a chunk, in ns. In 20 us, neither a claim (10 ns) nor a clock reading (30 ns) is
         * noticeable.
         */
        private const val CHUNK_NS = 20_000.0
        /**
         * Threads claim items in bulk if an item takes less than this, in ns. A claim takes 5 to 10 ns: up to 3 % of an
         * item of 300 ns, and a larger share of a shorter item.
         */
        private const val BULK_BELOW_NS = 300.0
        /** Minimum number of chunks per thread. A thread that joins late then still finds work. */
        private const val SHARES = 4
    }
}
