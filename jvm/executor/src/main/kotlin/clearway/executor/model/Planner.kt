// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/** How one batch is run. */
internal class Plan(
    val place: Place,
    /** Threads that are asked to join the caller at once. */
    val helpers: Int,
    /** Items claimed at a time. */
    val chunk: Int,
    /** A chunk's items are so short that they are claimed together and taken back only when their thread is stuck. */
    val bulk: Boolean,
    val timeItems: Boolean,
    val timeBatch: Boolean,
    val readCpu: Boolean,
    /** After as long, in ns, the caller asks the CPU workers for help with what is left. */
    val beatNs: Long,
    /** Items between two looks at the clock for the beat. */
    val lookEvery: Int,
    val predictedNs: Double,
    /** Batches of this size that the plan serves before the next is thought of. */
    val serves: Int = 1,
    /** Little is known of the site: what can be measured is, whatever it costs. */
    val cold: Boolean = false,
) {
    /** So short that no other thread is notified, unless it takes longer than predicted. */
    val alone: Boolean
        get() = serves > 1
}

/** Chooses a place with hysteresis, and how to measure at a cost that does not show. Pure, but for its memory. */
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
        // What others may join is planned, published and learnt from each time; of what the caller runs alone, one plan
        // serves many. Not counted, it hid behind workers that such batches keep awake: to hand over then costs 0.1 us.
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

    /** Items so short, and so sure to be, that a thread claims many at once. */
    private val runsInBulk: Boolean
        get() = site.warm && !site.mayBlock && site.itemNs < BULK_BELOW_NS

    /** A new site: item by item, each timed, and the workers are asked after the time that waking them takes. */
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
        // What would cost over a hundredth is measured so seldom that it does not, but never out of sight.
        val every = ((costs.clockNs * 2 + LEARN_NS) / (MEASURED_SHARE * workNs)).toInt().coerceAtMost(SELDOM)
        // While it is remembered that the site blocked, its items are claimed one by one, which costs as much as to
        // time
        // the batch. It is forgotten after some 200 timed ones: those were 13,000 when one in a hundred was timed.
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

    /** The next batch is timed, whatever that costs: the last was odd. */
    fun timeNext() {
        untimed = SELDOM
    }

    companion object {
        private val PLACES = Place.entries.toTypedArray()
        /** A place is left when another is quicker by more than this, which is under what may be lost (1.10). */
        private const val WORTH_A_CHANGE = 0.94
        /** Measuring takes at most a hundredth of what it measures. */
        private const val MEASURED_SHARE = 0.01
        /** At least one of this many trivial batches is timed. */
        private const val SELDOM = 255
        /** To plan a batch, to run it where others may join, and to learn from it: some 1.5 us more than without. */
        private const val LEARN_NS = 1_500
        /** Claims are so far apart that neither they nor a late look at the clock show: 10 ns and 30 ns in 20 us. */
        private const val CHUNK_NS = 20_000.0
        /** A claim an item takes 5 to 10 ns: under this it would be over 3 % of the item. */
        private const val BULK_BELOW_NS = 300.0
        /** Each thread claims several times, so that the last to come still finds work. */
        private const val SHARES = 4
    }
}
