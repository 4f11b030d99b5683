// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

import java.util.PriorityQueue
import java.util.Random

/**
 * A simulated machine and site, without threads. It computes how long a plan takes, with other formulas than
 * [Prediction].
 */
internal class World(
    /** The real costs, which may differ from the costs that the planner assumes. */
    private val costs: Costs,
    seed: Long,
    private val noise: Double = 0.05,
    /** Returns the wall time of one item, in ns. */
    var itemNs: (Random) -> Double,
    /** Share of an item's wall time that needs a processor. */
    var cpuShare: Double,
) {
    private val random = Random(seed)

    /** Simulates one batch of a plan, and returns the observation that the executor would make. */
    fun run(plan: Plan, size: Int): Observation {
        val items = DoubleArray(size) { itemNs(random) * (1 + noise * (random.nextDouble() * 2 - 1)) }
        val elapsed = elapsedNs(plan.place, plan.helpers, items)
        val sum = items.sum().toLong()
        val buckets = IntArray(DurationHistogram.BUCKETS)
        for (ns in items) buckets[DurationHistogram.bucketOf(ns.toLong())]++
        return Observation(
            plan.place,
            if (plan.timeBatch) size else 0,
            sum,
            elapsed.toLong(),
            cpuItems = if (plan.readCpu) size else 0,
            cpuWallNs = sum,
            cpuNs = (sum * cpuShare).toLong(),
            buckets = if (plan.timeItems) buckets else null,
            predictedNs = plan.predictedNs,
        )
    }

    /**
     * Returns the time of such a batch in the best place, in ns. As numbers of elastic threads, it tries powers of two
     * and one per item.
     */
    fun bestNs(size: Int): Double {
        val items = DoubleArray(size) { itemNs(random) }
        val elastic = generateSequence(1) { it * 2 }.takeWhile { it < size } + sequenceOf(size - 1)
        return minOf(
            elapsedNs(Placement.INLINE, 0, items),
            elapsedNs(Placement.CPU, costs.processors - 1, items),
            elastic.filter { it > 0 }.minOfOrNull { elapsedNs(Placement.ELASTIC, it, items) } ?: Double.MAX_VALUE,
        )
    }

    fun elapsedNs(place: Placement, helpers: Int, items: DoubleArray): Double {
        val (hand, awake) =
            if (place == Placement.ELASTIC) costs.startNs to costs.startedNs else costs.offerNs to costs.wakeNs
        val free = PriorityQueue<Double>()
        free += hand.toDouble() * helpers
        for (helper in 1..helpers) free += (hand * helper + awake).toDouble()
        val inOrder = items.iterator()
        var end = 0.0
        while (inOrder.hasNext()) {
            val start = free.poll()
            val stop = start + inOrder.next()
            end = maxOf(end, stop)
            free += stop
        }
        if (helpers == 0) return end
        // If there are more threads than processors, they share the processors. Before the first helper joins, the
        // caller uses one processor alone.
        return maxOf(end, (items.sum() * cpuShare + awake) / minOf(helpers + 1, costs.processors))
    }
}

/**
 * Plans batches of a site and learns from them, in turn. Returns the times of the batches in ns, including the cold
 * ones.
 */
internal fun World.play(model: SiteModel, planner: Planner, believed: Costs, size: Int, batches: Int): List<Double> =
    List(batches) {
        val seen = run(planner.plan(size, believed), size)
        model.observe(seen)
        seen.elapsedNs.toDouble()
    }
