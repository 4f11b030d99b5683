// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import clearway.executor.model.Costs
import clearway.executor.model.Observation
import clearway.executor.model.Placement
import clearway.executor.model.Plan
import clearway.executor.model.Planner
import clearway.executor.model.SiteModel
import clearway.executor.run.BatchEvents
import clearway.executor.run.SiteLock

/**
 * A call site: a point in the program that submits one kind of work, with the measurements of that work.
 * [AdaptiveExecutor.site] creates it; keep it in a field. Use two sites for two kinds of work.
 */
public class Site internal constructor(public val name: String, internal val options: SiteOptions) {
    internal val model = SiteModel()
    private val planner = Planner(model)
    private var place = Placement.INLINE
    internal val lock: SiteLock? = if (options.ordered) SiteLock() else null

    // The plan that several untimed batches reuse, because planning costs more than a trivial batch.
    @Volatile private var reusedPlan: Plan? = null
    private var reusedSize = 0
    private var reusesLeft = 0

    internal fun plan(size: Int, costs: Costs): Plan {
        val ready = reusedPlan
        // Threads may race here. A lost update only makes the plan serve a few more batches.
        if (ready != null && size == reusedSize && --reusesLeft >= 0) return ready
        return synchronized(model) {
            val plan = planner.plan(size, costs)
            if (plan.place != place) {
                BatchEvents.decided(name, place, plan, size)
                place = plan.place
            }
            reusedPlan = plan.takeIf { it.serves > 1 }
            reusedSize = size
            reusesLeft = plan.serves - 1
            plan
        }
    }

    internal fun observe(seen: Observation) {
        synchronized(model) {
            model.observe(seen)
            reusedPlan = null
        }
    }

    /** Whether to time a batch that reuses a plan. True for one batch in [SAMPLED]. */
    internal val isSampled: Boolean
        get() = reusesLeft and (SAMPLED - 1) == 0

    /** Reports the time of a sampled batch, in ns. Ends the plan if the batch took far longer than predicted. */
    internal fun sample(ns: Long, plan: Plan) {
        if (ns > plan.predictedNs * ODD) forgetPlan()
    }

    /** Ends the current plan. The site plans and times the next batch. */
    internal fun forgetPlan() {
        synchronized(model) {
            planner.timeNext()
            reusedPlan = null
        }
    }

    // `singlesToSkip` counts the next tasks that are not measured. `singlesToMeasure` counts the next tasks that are
    // measured in any case. Threads may race on both counters: a lost update only measures one task more or less.
    @Volatile private var singlesToSkip = 0
    @Volatile private var singlesToMeasure = 0

    /**
     * Whether to measure the next single task. Measures every task until the site is warm, and then one in [SINGLES] if
     * the tasks are trivial. Measuring a task (reading the thread's CPU time, and learning) takes much longer than the
     * shortest tasks themselves (see [SINGLES]).
     */
    internal fun measuresNextSingle(): Boolean {
        val left = singlesToSkip
        if (left > 0) singlesToSkip = left - 1
        return left <= 0
    }

    /**
     * Reports the time of an unmeasured task, in ns. If the task was long, it may have slept, so the next tasks are
     * measured.
     */
    internal fun reportUnmeasured(wallNs: Long) {
        if (wallNs < TRIVIAL_NS) return
        singlesToMeasure = SINGLES
        singlesToSkip = 0
    }

    private fun learntOfSingle() {
        val watched = singlesToMeasure
        if (watched > 0) singlesToMeasure = watched - 1
        else if (model.warm && !model.mayBlock && model.itemNs < TRIVIAL_NS) singlesToSkip = SINGLES - 1
    }

    /** Learns from a single task. */
    internal fun observeSingle(seen: Observation) {
        synchronized(model) {
            model.observe(seen)
            reusedPlan = null
            learntOfSingle()
        }
    }

    /**
     * Whether a single task should run on an elastic thread (an extra thread, for work that blocks): its site may
     * block, or is unknown.
     */
    internal val needsElastic: Boolean
        get() = synchronized(model) { !model.known || model.mayBlock }

    override fun toString(): String = "Site($name)"

    private companion object {
        /**
         * One in this many batches is timed. Two clock readings (50 ns) for one batch in 16 are 0.3 % of the shortest
         * batch (1 us).
         */
        const val SAMPLED = 16
        /**
         * One in this many trivial tasks is measured. Measuring a task takes 1 to 2.5 us. Spread over 64 tasks, that is
         * less than half of the shortest task (0.1 us).
         */
        const val SINGLES = 64
        /** A task that is shorter than this, in ns, is trivial. The model also ignores a sleep that is shorter. */
        const val TRIVIAL_NS = 20_000L
        /**
         * A sampled batch ends its plan if it takes more than this multiple of the prediction. The model uses the same
         * factor.
         */
        const val ODD = 2.0
    }
}
