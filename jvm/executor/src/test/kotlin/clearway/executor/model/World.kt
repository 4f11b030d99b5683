// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

import java.util.PriorityQueue
import java.util.Random

/** A machine and a site without threads: says how long a plan takes, by its own sums and not by [Prediction]'s. */
internal class World(
    /** What is really charged, which the planner's costs may get wrong. */
    private val costs: Costs,
    seed: Long,
    private val noise: Double = 0.05,
    /** Wall time of one item, and the share of it that needs a processor. */
    var itemNs: (Random) -> Double,
    var cpuShare: Double,
) {
    private val random = Random(seed)

    /** One batch, run as planned, told as the executor would tell it. */
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

    /** What every place would need, each with the best number of threads among all, for a batch of the same kind. */
    fun bestNs(size: Int): Double {
        val items = DoubleArray(size) { itemNs(random) }
        val elastic = generateSequence(1) { it * 2 }.takeWhile { it < size } + sequenceOf(size - 1)
        return minOf(
            elapsedNs(Place.INLINE, 0, items),
            elapsedNs(Place.CPU, costs.processors - 1, items),
            elastic.filter { it > 0 }.minOfOrNull { elapsedNs(Place.ELASTIC, it, items) } ?: Double.MAX_VALUE,
        )
    }

    fun elapsedNs(place: Place, helpers: Int, items: DoubleArray): Double {
        val (hand, awake) =
            if (place == Place.ELASTIC) costs.startNs to costs.startedNs else costs.offerNs to costs.wakeNs
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
        // More threads than processors share these, and until the first helper comes the caller has one alone.
        return maxOf(end, (items.sum() * cpuShare + awake) / minOf(helpers + 1, costs.processors))
    }
}

/** A site that is planned and learnt from in turn. Returns the batches' times, the quarantine among them. */
internal fun World.play(model: SiteModel, planner: Planner, believed: Costs, size: Int, batches: Int): List<Double> =
    List(batches) {
        val seen = run(planner.plan(size, believed), size)
        model.observe(seen)
        seen.elapsedNs.toDouble()
    }
