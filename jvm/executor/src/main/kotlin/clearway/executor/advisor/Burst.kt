// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.advisor

import clearway.executor.model.DurationHistogram
import clearway.executor.model.Observation
import clearway.executor.model.Placement
import clearway.executor.model.isCrowded

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
