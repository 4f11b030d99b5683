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
 * A place in the program that hands out work of one kind, and the measurements of that work. [AdaptiveExecutor.site]
 * creates it; keep it in a field. Use two sites for two kinds of work.
 */
public class Site internal constructor(public val name: String, internal val options: SiteOptions) {
    internal val model = SiteModel()
    private val planner = Planner(model)
    private var place = Place.INLINE
    internal val lock: SiteLock? = if (options.ordered) SiteLock() else null

    // A plan for untimed batches serves several of them, because planning costs more than a trivial batch.
    @Volatile private var quick: Plan? = null
    private var quickSize = 0
    private var quickLeft = 0

    internal fun plan(size: Int, costs: Costs): Plan {
        val ready = quick
        // Updates that race between threads only make a plan serve a few more batches.
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

    /** Whether to time a batch that a previous plan serves: one of [SAMPLED]. */
    internal val isSampled: Boolean
        get() = quickLeft and (SAMPLED - 1) == 0

    /** Reports the time of a sampled batch. Ends the plan if the batch took far longer than predicted. */
    internal fun sample(ns: Long, plan: Plan) {
        if (ns > plan.predictedNs * ODD) forgetPlan()
    }

    /** Ends the current plan: the next batch is planned again, and timed. */
    internal fun forgetPlan() {
        synchronized(model) {
            planner.timeNext()
            quick = null
        }
    }

    // Updates that race between threads only measure a task more or fewer.
    @Volatile private var singlesUnlooked = 0
    @Volatile private var singlesWatched = 0

    /**
     * Whether to measure the next single task. Measures every task until the site is warm, then one of [SINGLES] if
     * tasks are trivial: reading the thread's processor time and learning costs two to ten times as much as such a
     * task.
     */
    internal fun looksAtSingle(): Boolean {
        val left = singlesUnlooked
        if (left > 0) singlesUnlooked = left - 1
        return left <= 0
    }

    /**
     * Reports the time of an unmeasured task. After a long one the next tasks are measured, because it may have slept.
     */
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

    /** Learns from a single task. */
    internal fun observeSingle(seen: Observation) {
        synchronized(model) {
            model.observe(seen)
            quick = null
            learntOfSingle()
        }
    }

    /** Whether a single task should run on an elastic thread: it may sleep, or nothing is known of it. */
    internal val needsElastic: Boolean
        get() = synchronized(model) { !model.known || model.mayBlock }

    override fun toString(): String = "Site($name)"

    private companion object {
        /** Two readings of the clock (50 ns) for one batch in sixteen are 0.3 % of the shortest batch (1 us). */
        const val SAMPLED = 16
        /**
         * Measuring a task takes 1 to 2.5 us. For one task in 64 that is less than half of the shortest task (0.1 us).
         */
        const val SINGLES = 64
        /** The shortest sleep that the model counts. */
        const val TRIVIAL_NS = 20_000L
        /** The same factor as a surprise in the model. */
        const val ODD = 2.0
    }
}
