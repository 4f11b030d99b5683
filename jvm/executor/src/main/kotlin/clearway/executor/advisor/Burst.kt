// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.advisor

import clearway.executor.model.DurationHistogram
import clearway.executor.model.Observation
import clearway.executor.model.Place

/**
 * Tasks of one site that were under way together: from the first that was given, while none was, to the moment when all
 * are done. A loop that gives a hundred and waits for them is one burst; who waits for each before the next makes
 * bursts of one. Its owner locks it. Times in ns.
 */
internal class Burst(val firstNs: Long, private val collections: Long) {
    private var underWay = 0
    private var running = 0
    private val callers = HashSet<Thread>()
    private val buckets = IntArray(DurationHistogram.BUCKETS)
    private var cpuItems = 0
    private var cpuWallNs = 0L
    private var cpuNs = 0L

    var given: Int = 0
        private set

    var done: Int = 0
        private set

    var lastNs: Long = firstNs
        private set

    /** Run time of all tasks together. */
    var itemsNs: Long = 0
        private set

    /** From being given to being begun, all tasks together. */
    var waitedNs: Long = 0
        private set

    /** The submitters' cost of handing tasks over. */
    var handedNs: Long = 0
        private set

    /** From being given until the first task was begun: a thread had to be woken. */
    var firstWaitNs: Long = -1
        private set

    /** The most tasks that ran at the same time. */
    var threads: Int = 0
        private set

    var fromEventThread: Boolean = false
        private set

    val elapsedNs: Long
        get() = maxOf(1, lastNs - firstNs)

    /** Threads that gave tasks; beyond some, all the same. */
    val callersSeen: Int
        get() = callers.size

    val isOver: Boolean
        get() = underWay == 0

    fun given(by: Thread, isEventThread: Boolean) {
        given++
        // The task and its hand-over, which may end later than the task.
        underWay += 2
        if (callers.size < CALLERS_MAX) callers += by
        fromEventThread = fromEventThread || isEventThread
    }

    fun handed(tookNs: Long) {
        handedNs += tookNs
        underWay--
    }

    /** The task was refused: no hand-over ends, and it never will run. */
    fun refused() {
        given--
        underWay -= 2
    }

    /** The task was handed over and will not be run. */
    fun dropped() {
        given--
        underWay--
    }

    fun begun(givenNs: Long, atNs: Long) {
        if (firstWaitNs < 0) firstWaitNs = atNs - givenNs
        waitedNs += atNs - givenNs
        running++
        threads = maxOf(threads, running)
    }

    /** `ranCpuNs` is negative where the thread's clock was not read. */
    fun ended(beganNs: Long, atNs: Long, ranCpuNs: Long) {
        val tookNs = atNs - beganNs
        running--
        underWay--
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

    /** What the model learns from it. More tasks at once than processors: who did not run need not have slept. */
    fun observation(processors: Int, collectionsNow: Long): Observation =
        Observation(
            Place.CPU,
            done,
            itemsNs,
            elapsedNs,
            cpuItems,
            cpuWallNs,
            cpuNs,
            crowded = threads > processors && cpuNs > elapsedNs * processors * CROWDED,
            paused = collectionsNow != collections,
            buckets = buckets,
        )

    companion object {
        /** From there on work that its callers did themselves would use every processor anyway. */
        private const val CALLERS_MAX = 64
        /** The tasks had nearly all processors' time among them. */
        private const val CROWDED = 0.9
    }
}
