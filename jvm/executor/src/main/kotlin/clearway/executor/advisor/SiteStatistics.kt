// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.advisor

import clearway.executor.model.Costs
import clearway.executor.model.DurationHistogram
import clearway.executor.model.Observation
import clearway.executor.model.Placement
import clearway.executor.model.Prediction
import clearway.executor.model.SiteModel
import clearway.executor.model.isCrowded

/** The recent ratios of a burst's measured time to its predicted time in another place. */
internal class Ratios {
    private val kept = DoubleArray(KEPT)
    private var next = 0

    var count: Int = 0
        private set

    fun add(ratio: Double) {
        kept[next] = ratio
        next = (next + 1) % KEPT
        count = minOf(count + 1, KEPT)
    }

    /** Returns the nearest-rank quantile, or 0 without ratios. */
    fun quantile(q: Double): Double {
        if (count == 0) return 0.0
        val sorted = kept.copyOf(count).sortedArray()
        return sorted[(count * q).toInt().coerceAtMost(count - 1)]
    }

    /** Returns how many ratios are greater than `ratio`. */
    fun over(ratio: Double): Int = (0 until count).count { kept[it] > ratio }

    private companion object {
        /**
         * Number of ratios that are kept. It is enough for stable quartiles, and all are replaced within about a minute
         * at one burst per second.
         */
        const val KEPT = 64
    }
}

/**
 * The measurements of one site (one kind of work), from its bursts ([Burst]) in the order of their ends. `costs` are
 * the costs of waking and handing over in the watched executor. Reads no clock. Not thread-safe: its owner must hold a
 * lock.
 */
internal class SiteStatistics(private var costs: Costs) {
    val model: SiteModel = SiteModel()
    val ratios: Map<Placement, Ratios> = Placement.entries.associateWith { Ratios() }

    var tasks: Long = 0
        private set

    var bursts: Long = 0
        private set

    /** Number of bursts in which threads slept in tasks. */
    var sleptBursts: Long = 0
        private set

    private val sleptShare = Follower()

    /**
     * Whether the tasks sleep: several bursts did, and a part of the recent ones. A burst whose thread another program
     * preempted looks like one that slept, so a few say nothing. (The executor's own model believes one, because
     * running a task that blocks on the caller's thread costs more than handing over one that does not.)
     */
    val sleeps: Boolean
        get() = sleptBursts >= SLEPT_MIN && sleptShare.mean > SLEPT_SHARE

    var fromEventThread: Boolean = false
        private set

    var threads: Int = 0
        private set

    /** Mean number of tasks per burst, over recent bursts. */
    val size: Follower = Follower()
    /** Mean duration of recent bursts, in ns. */
    val elapsedNs: Follower = Follower()
    /** Mean time in ns from a task's submission to its start. */
    val waitNs: Follower = Follower()
    /** Mean time in ns that a submitting thread needs to hand over a task. */
    val handNs: Follower = Follower()

    fun burst(burst: Burst, collections: Long) {
        if (burst.done == 0) return
        tasks += burst.done
        bursts++
        fromEventThread = fromEventThread || burst.fromEventThread
        threads = maxOf(threads, burst.threads)
        size.follow(burst.done.toDouble())
        elapsedNs.follow(burst.elapsedNs.toDouble())
        waitNs.follow(burst.waitedNs.toDouble() / burst.done)
        handNs.follow(burst.handOverNs.toDouble() / burst.done)
        val seen = burst.observation(costs.processors, collections)
        val slept = SiteModel.blocked(seen)
        if (slept) sleptBursts++
        sleptShare.follow(if (slept) 1.0 else 0.0)
        model.observe(seen)
        learnCosts(burst)
        if (model.warm && !seen.paused) compare(burst)
    }

    private fun learnCosts(burst: Burst) {
        val offered = handNs.mean.toLong().coerceAtLeast(1)
        val waking = if (burst.firstWaitNs > 0) burst.firstWaitNs.coerceAtMost(costs.wakeNs * CAP) else costs.wakeNs
        costs = costs.copy(offerNs = offered, wakeNs = costs.wakeNs + (waking - costs.wakeNs) / MEMORY)
    }

    private fun compare(burst: Burst) {
        val prediction = Prediction(model, costs, burst.done)
        for (place in PLACES) {
            val thereNs = ns(prediction, place, burst.done, burst.callersSeen)
            if (thereNs > 0) ratios.getValue(place).add(burst.elapsedNs / thereNs)
        }
    }

    /**
     * Returns the predicted time, in ns, of a burst of `size` tasks from one caller in this place. Returns 0 if nothing
     * is known.
     */
    fun predictedNs(place: Placement, size: Int): Double =
        if (model.known) ns(Prediction(model, costs, size), place, size, callers = 1) else 0.0

    private fun ns(prediction: Prediction, place: Placement, size: Int, callers: Int): Double =
        when (place) {
            // Several callers run their own work at the same time.
            Placement.INLINE -> prediction.inlineNs() / minOf(maxOf(1, callers), costs.processors)
            Placement.CPU -> prediction.cpuNs(minOf(costs.processors - 1, size - 1))
            Placement.ELASTIC -> prediction.elasticNs(prediction.elasticHelpers())
        }

    /** Returns a time in ns that hardly any burst of `size` tasks exceeds on its caller's thread. */
    fun atWorstNs(size: Int): Double = Prediction(model, costs, size).atWorstNs()

    private companion object {
        val PLACES = Placement.entries
        const val SLEPT_MIN = 4
        /** The least share of the recent bursts of a site whose tasks sleep. */
        const val SLEPT_SHARE = 0.25
        const val CAP = 4
        const val MEMORY = 16
    }
}

/** A moving mean over about sixteen values. NaN before the first value. */
internal class Follower {
    var mean: Double = Double.NaN
        private set

    fun follow(value: Double) {
        mean = if (mean.isNaN()) value else mean + (value - mean) / MEMORY
    }

    private companion object {
        const val MEMORY = 16
    }
}

/**
 * Tasks of one site (one kind of work) that were in flight together. The term *burst* in docs/terms.md has another
 * meaning, for calls of JavaScript. A burst starts with a task that is submitted while none is in flight. It ends when
 * all its tasks are done. A loop that submits a hundred tasks and then waits makes one burst; a caller that waits for
 * each task makes bursts of one task. A burst is not thread-safe: its owner must hold a lock. Times are in ns.
 */
internal class Burst(val firstNs: Long, private val collections: Long) {
    private var pending = 0
    private var running = 0
    private val callers = HashSet<Thread>()
    private val buckets = IntArray(DurationHistogram.BUCKETS)
    private var cpuItems = 0
    private var cpuWallNs = 0L
    private var cpuNs = 0L

    var submitted: Int = 0
        private set

    var done: Int = 0
        private set

    var lastNs: Long = firstNs
        private set

    /** Sum of the tasks' run times. */
    var itemsNs: Long = 0
        private set

    /** Sum of the times from a task's submission to its start. */
    var waitedNs: Long = 0
        private set

    /** Sum of the times that submitting threads needed to hand over tasks. */
    var handOverNs: Long = 0
        private set

    /** Time from submission to start of the first task that started, including the wake of its thread. -1 before. */
    var firstWaitNs: Long = -1
        private set

    /** Maximum number of tasks that ran at the same time. */
    var threads: Int = 0
        private set

    var fromEventThread: Boolean = false
        private set

    val elapsedNs: Long
        get() = maxOf(1, lastNs - firstNs)

    /** Number of threads that submitted tasks, up to a maximum. */
    val callersSeen: Int
        get() = callers.size

    val isOver: Boolean
        get() = pending == 0

    fun submitted(by: Thread, isEventThread: Boolean) {
        submitted++
        // Counts the task and its hand-over, which may end later than the task.
        pending += 2
        if (callers.size < CALLERS_MAX) callers += by
        fromEventThread = fromEventThread || isEventThread
    }

    fun handedOver(tookNs: Long) {
        handOverNs += tookNs
        pending--
    }

    /** Removes a task that the executor refused. Its hand-over does not end, and it never runs. */
    fun refused() {
        submitted--
        pending -= 2
    }

    /** Removes a task that was handedOver over and will never run. */
    fun dropped() {
        submitted--
        pending--
    }

    fun begun(submittedNs: Long, atNs: Long) {
        if (firstWaitNs < 0) firstWaitNs = atNs - submittedNs
        waitedNs += atNs - submittedNs
        running++
        threads = maxOf(threads, running)
    }

    /** Records the end of a task. `ranCpuNs` is negative if the thread's CPU time was not read. */
    fun ended(beganNs: Long, atNs: Long, ranCpuNs: Long) {
        val tookNs = atNs - beganNs
        running--
        pending--
        done++
        itemsNs += tookNs
        lastNs = maxOf(lastNs, atNs)
        buckets[DurationHistogram.bucketOf(tookNs)]++
        if (ranCpuNs >= 0) {
            cpuItems++
            cpuWallNs += tookNs
            cpuNs += ranCpuNs
        }
    }

    /**
     * Returns the burst as an observation for the model. If more tasks ran than there are processors, a task may have
     * waited for a processor instead of for input. If the processors were also busy, the burst is `crowded`.
     */
    fun observation(processors: Int, collectionsNow: Long): Observation =
        Observation(
            Placement.CPU,
            done,
            itemsNs,
            elapsedNs,
            cpuItems,
            cpuWallNs,
            cpuNs,
            crowded = isCrowded(threads, cpuNs, elapsedNs, processors),
            paused = collectionsNow != collections,
            buckets = buckets,
        )

    companion object {
        /**
         * Maximum number of counted callers. With more callers, work on their own threads would use every processor
         * anyway.
         */
        private const val CALLERS_MAX = 64
    }
}
