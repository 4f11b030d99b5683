// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import clearway.executor.model.Costs
import clearway.executor.model.Observation
import clearway.executor.model.Placement
import clearway.executor.model.Plan
import clearway.executor.model.Planner
import clearway.executor.model.SiteModel
import clearway.executor.run.BatchEvents
import clearway.executor.run.Lifecycle
import clearway.executor.run.Singles
import clearway.executor.run.SiteLock
import java.util.concurrent.AbstractExecutorService
import java.util.concurrent.Callable
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.FutureTask
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.RunnableFuture
import java.util.concurrent.TimeUnit

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

/**
 * Options of a call site. Immutable: each function returns new options and leaves these as they are. Two options are
 * equal if they name the same order and the same thread-locals. Thread-safe.
 */
public class SiteOptions
private constructor(internal val ordered: Boolean, internal val locals: List<ThreadLocal<Any?>>) {
    /** Creates the default options: items in any order, and no thread-locals. */
    public constructor() : this(false, emptyList())

    /**
     * Returns options with which a site runs its items in order, one at a time. Each item happens-before the next.
     * [AdaptiveExecutor.runAll] runs them on the calling thread; other work of the site runs on any thread. Batches and
     * tasks of the site wait for each other, in the order in which they were submitted.
     *
     * If an item calls [AdaptiveExecutor.runAll] on its own site, the new batch runs within the item. An item must not
     * wait for another batch or task of its site: that work cannot start before the item has ended.
     */
    public fun ordered(): SiteOptions = SiteOptions(true, locals)

    /**
     * Returns options with which a site also copies these thread-locals to helping threads. A helping thread gets the
     * values of the caller's thread, and gets its own values back afterwards. Without this option, an item sees the
     * caller's thread-locals only if it runs on the caller's thread. The context class loader is always copied.
     */
    @Suppress("UNCHECKED_CAST") // Each value is set only on the thread-local that it was read from.
    public fun carry(vararg values: ThreadLocal<*>): SiteOptions =
        SiteOptions(ordered, (locals + values.map { it as ThreadLocal<Any?> }).distinct())

    // Compares the sets: the order of thread-locals makes no difference to an item. A thread-local has no equality of
    // its
    // own, unless a subclass defines one.
    override fun equals(other: Any?): Boolean =
        other is SiteOptions && ordered == other.ordered && locals.toSet() == other.locals.toSet()

    override fun hashCode(): Int = locals.toSet().hashCode() * 2 + if (ordered) 1 else 0

    override fun toString(): String {
        val parts = listOfNotNull("ordered".takeIf { ordered }, "carry=${locals.size}".takeIf { locals.isNotEmpty() })
        return if (parts.isEmpty()) "default" else parts.joinToString(", ")
    }
}

/**
 * Thrown if a site is asked for with other options than those that created it. The message names both.
 *
 * @property name name of the site
 * @property existing options of the existing site
 * @property requested options of the refused call
 */
public class SiteMismatchException
internal constructor(public val name: String, public val existing: SiteOptions, public val requested: SiteOptions) :
    IllegalArgumentException(
        "the site exists with other options: name=$name, existing=($existing), requested=($requested); " +
            differences(existing, requested)
    )

private fun differences(existing: SiteOptions, requested: SiteOptions): String =
    if (existing.ordered == requested.ordered) "they carry different thread-locals" else "only one of them is ordered"

/**
 * Thrown if a further site would exceed [sitesMax]. Names that are made from data, such as the id of a request, lead
 * here.
 *
 * @property name name of the refused site
 * @property sitesMax maximum number of named sites of an executor
 */
public class TooManySitesException internal constructor(public val name: String, public val sitesMax: Int) :
    IllegalStateException(
        "an executor keeps at most $sitesMax named sites: name=$name; name a site by the kind of its work, not by its data"
    )

/** A `FutureTask` that also keeps the submitted task. The call site has the name of that task's class. */
internal class SiteTask<T>(call: Callable<T>, val task: Any) : RunnableFuture<T> by FutureTask(call)

/**
 * Runs the tasks of one site as an `ExecutorService`. It has its own shutdown. After a shutdown of the
 * [AdaptiveExecutor], it refuses tasks, too.
 */
internal class SiteExecutor(private val site: Site, private val singles: Singles) : AbstractExecutorService() {
    private val lifecycle = Lifecycle()
    private val mine: MutableSet<Singles.Single> = ConcurrentHashMap.newKeySet()
    @Volatile private var stopped = false

    override fun execute(task: Runnable) {
        if (!lifecycle.enter()) throw refusal()
        val single =
            try {
                singles.single(site, task) { ended(it) }
            } catch (thrown: Throwable) {
                lifecycle.leave()
                throw thrown
            }
        mine += single
        // Pairs with `shutdownNow`, which sets `stopped` and then lists the tasks. Either that list contains this task,
        // or this thread sees `stopped`.
        if (stopped && single.drop()) throw refusal()
        singles.start(single)
    }

    private fun refusal() = RejectedExecutionException("the executor of site ${site.name} is shut down")

    private fun ended(single: Singles.Single) {
        mine -= single
        lifecycle.leave()
    }

    override fun shutdown(): Unit = lifecycle.shut()

    override fun shutdownNow(): MutableList<Runnable> {
        lifecycle.shut()
        stopped = true
        return Singles.settled(Singles.stop(mine))
    }

    override fun isShutdown(): Boolean = lifecycle.isShut

    override fun isTerminated(): Boolean = lifecycle.isOver

    override fun awaitTermination(timeout: Long, unit: TimeUnit): Boolean = lifecycle.await(timeout, unit)
}
