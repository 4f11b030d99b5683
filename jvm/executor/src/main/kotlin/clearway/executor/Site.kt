// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import clearway.executor.model.Costs
import clearway.executor.model.Observation
import clearway.executor.model.Place
import clearway.executor.model.Plan
import clearway.executor.model.Planner
import clearway.executor.model.SiteModel
import clearway.executor.run.BatchEvents
import clearway.executor.run.SiteLock

/**
 * A place in the program that hands out work of one kind, and what is known of that work. Named by
 * [AdaptiveExecutor.site]; keep it in a field. Work of two kinds should be two sites.
 */
public class Site internal constructor(public val name: String, internal val options: SiteOptions) {
    internal val model = SiteModel()
    private val planner = Planner(model)
    private var place = Place.INLINE
    internal val lock: SiteLock? = if (options.ordered) SiteLock() else null

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

    // Lost updates between threads only make it a task more or fewer.
    @Volatile private var singlesUnlooked = 0
    @Volatile private var singlesWatched = 0

    /**
     * Whether the next single task is to be measured: each until the site is warm; then one of [SINGLES] where they are
     * trivial, for to read the thread's clock of processor time and to learn costs twice to ten times such a task.
     */
    internal fun looksAtSingle(): Boolean {
        val left = singlesUnlooked
        if (left > 0) singlesUnlooked = left - 1
        return left <= 0
    }

    /** A task that was not measured took `wallNs`: when that is long, the next are looked at, for it may have slept. */
    internal fun overlooked(wallNs: Long) {
        if (wallNs < TRIVIAL_NS) return
        singlesWatched = SINGLES
        singlesUnlooked = 0
    }

    private fun learntOfSingle() {
        val watched = singlesWatched
        if (watched > 0) singlesWatched = watched - 1
        else if (model.warm && !model.mayBlock && model.itemNs < TRIVIAL_NS) singlesUnlooked = SINGLES - 1
    }

    /** Learns from a task that was given alone. */
    internal fun observeSingle(seen: Observation) {
        synchronized(model) {
            model.observe(seen)
            quick = null
            learntOfSingle()
        }
    }

    /** Whether an elastic thread should run a single item: it may sleep, or is unknown. */
    internal val needsElastic: Boolean
        get() = synchronized(model) { !model.known || model.mayBlock }

    override fun toString(): String = "Site($name)"

    private companion object {
        /** Two readings of the clock (50 ns) for one batch in sixteen are 0.3 % of the shortest (1 us). */
        const val SAMPLED = 16
        /** To measure a task takes 1 to 2.5 us: of one in 64 that is under half of the shortest (0.1 us). */
        const val SINGLES = 64
        /** As long as the model wants a sleep to be at least. */
        const val TRIVIAL_NS = 20_000L
        /** As far off as makes a surprise of a batch that is timed. */
        const val ODD = 2.0
    }
}
