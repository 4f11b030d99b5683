// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import clearway.executor.model.Costs
import clearway.executor.model.Observation
import clearway.executor.model.Place
import clearway.executor.model.Plan
import clearway.executor.model.Planner
import clearway.executor.model.Prediction
import clearway.executor.model.SiteModel
import clearway.executor.run.BatchEvents

/**
 * A place in the program that hands out work of one kind, and what is known of that work. Named by
 * [AdaptiveExecutor.site]; keep it in a field. Work of two kinds should be two sites.
 */
public class Site internal constructor(public val name: String, internal val options: SiteOptions) {
    internal val model = SiteModel()
    private val planner = Planner(model)
    private var place = Place.INLINE

    // A plan whose batch need not be timed serves some batches: to think costs more than a trivial batch does.
    @Volatile private var quick: Plan? = null
    private var quickSize = 0
    private var quickLeft = 0

    internal fun plan(size: Int, costs: Costs): Plan {
        val ready = quick
        // Lost updates between threads only make a plan serve a few batches more.
        if (ready != null && size == quickSize && --quickLeft >= 0) return ready
        return synchronized(model) {
            val plan = planner.plan(size, costs)
            if (plan.place != place) {
                BatchEvents.decided(name, place, plan, size)
                place = plan.place
            }
            quick = plan.takeIf { it.serves > 1 }
            quickSize = size
            quickLeft = plan.serves - 1
            plan
        }
    }

    internal fun observe(seen: Observation) {
        synchronized(model) {
            model.observe(seen)
            quick = null
        }
    }

    /** Whether a batch that is served by a plan of before is to be looked at all the same: one of [SAMPLED]. */
    internal val isSampled: Boolean
        get() = quickLeft and (SAMPLED - 1) == 0

    /** A batch that was not to be timed took `ns`: far more than was thought ends the plan. */
    internal fun sample(ns: Long, plan: Plan) {
        if (ns > plan.predictedNs * ODD) forgetPlan()
    }

    /** The next batch is planned anew, and timed. */
    internal fun forgetPlan() {
        synchronized(model) {
            planner.timeNext()
            quick = null
        }
    }

    /** What nearly no batch of `size` items exceeds, ns; infinite for a site that is unknown, cold, or has blocked. */
    internal fun atWorstNs(size: Int, costs: Costs): Double =
        synchronized(model) {
            if (!model.warm || model.mayBlock) Double.POSITIVE_INFINITY else Prediction(model, costs, size).atWorstNs()
        }

    /** Whether one item is better given to an elastic thread: it may sleep, or nobody knows. */
    internal val needsElastic: Boolean
        get() = synchronized(model) { !model.known || model.mayBlock }

    override fun toString(): String = "Site($name)"

    private companion object {
        /** Two readings of the clock (50 ns) for one batch in sixteen are 0.3 % of the shortest (1 us). */
        const val SAMPLED = 16
        /** As far off as makes a surprise of a batch that is timed. */
        const val ODD = 2.0
    }
}
