// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.advisor

import clearway.executor.host.Clock
import clearway.executor.model.Costs
import clearway.executor.model.Placement
import clearway.executor.run.Recorder
import java.util.concurrent.AbstractExecutorService
import java.util.concurrent.ExecutorService
import java.util.concurrent.ForkJoinPool
import java.util.concurrent.TimeUnit
import jdk.jfr.Category
import jdk.jfr.Description
import jdk.jfr.Event
import jdk.jfr.Label
import jdk.jfr.Name
import jdk.jfr.StackTrace
import jdk.jfr.Timespan

/**
 * Passes every task to the wrapped executor and measures the task's times. It does not change where or when tasks run.
 */
internal class WatchedExecutor(
    private val behind: ExecutorService,
    private val site: WatchedSite,
    private val clock: Clock,
) : AbstractExecutorService() {

    override fun execute(task: Runnable) {
        val submittedNs = clock.nanoTime()
        val watched = Watched(task, site.submitted(submittedNs), submittedNs)
        try {
            behind.execute(watched)
        } catch (refused: Throwable) {
            site.refused(watched.burst)
            throw refused
        }
        site.handedOver(watched.burst, clock.nanoTime() - submittedNs)
    }

    private inner class Watched(val task: Runnable, val burst: Burst, private val submittedNs: Long) : Runnable {
        override fun run() {
            val beganNs = clock.nanoTime()
            site.begun(burst, submittedNs, beganNs)
            val cpuNs = if (site.readsCpu()) clock.threadCpuNs() else -1
            try {
                task.run()
            } finally {
                val ranCpuNs = if (cpuNs < 0) -1 else clock.threadCpuNs() - cpuNs
                site.ended(burst, beganNs, clock.nanoTime(), ranCpuNs)
            }
        }

        override fun toString(): String = task.toString()
    }

    override fun shutdown(): Unit = behind.shutdown()

    override fun shutdownNow(): MutableList<Runnable> =
        behind
            .shutdownNow()
            .map { left -> if (left is Watched) left.task.also { site.dropped(left.burst) } else left }
            .toMutableList()

    /**
     * Shuts down and waits for the tasks; an interrupt drops those that wait. Does nothing for a common pool, which
     * cannot be shut down. JDK 19 added this function to executors. It is compiled without `override`, for JDK 17.
     */
    fun close() {
        if (behind === ForkJoinPool.commonPool()) return
        shutdown()
        var interrupted = false
        while (true) {
            try {
                if (awaitTermination(1, TimeUnit.DAYS)) break
            } catch (thrown: InterruptedException) {
                if (!interrupted) shutdownNow()
                interrupted = true
            }
        }
        if (interrupted) Thread.currentThread().interrupt()
    }

    override fun isShutdown(): Boolean = behind.isShutdown

    override fun isTerminated(): Boolean = behind.isTerminated

    override fun awaitTermination(timeout: Long, unit: TimeUnit): Boolean = behind.awaitTermination(timeout, unit)
}

/** The bursts of one watched executor, and their measurements. Thread-safe. */
internal class WatchedSite(
    val name: String,
    private val setting: Setting,
    private val clock: Clock,
    private val isEventThread: (Thread) -> Boolean,
) {
    private val costs = Costs(setting.processors)
    private val statistics = SiteStatistics(costs)
    private val rules = AdviceRules(setting)
    private var current: Burst? = null
    private var unread = 0
    @Volatile private var cpuEvery = 1

    fun submitted(atNs: Long): Burst {
        val by = Thread.currentThread()
        val onEvent = isEventThread(by)
        synchronized(this) {
            val open = current
            val burst =
                if (open != null && open.submitted < BURST_MAX && atNs - open.firstNs < BURST_NS_MAX) open
                else Burst(atNs, clock.collections()).also { current = it }
            burst.submitted(by, onEvent)
            return burst
        }
    }

    fun handedOver(burst: Burst, tookNs: Long): Unit = change(burst) { handedOver(tookNs) }

    fun refused(burst: Burst): Unit = change(burst) { refused() }

    fun dropped(burst: Burst): Unit = change(burst) { dropped() }

    fun begun(burst: Burst, submittedNs: Long, atNs: Long): Unit = synchronized(this) { burst.begun(submittedNs, atNs) }

    /** Whether to read the thread's CPU time for this task. */
    fun readsCpu(): Boolean {
        val every = cpuEvery
        return every == 1 || synchronized(this) { unread++ % every == 0 }
    }

    fun ended(burst: Burst, beganNs: Long, atNs: Long, ranCpuNs: Long): Unit =
        change(burst) { ended(beganNs, atNs, ranCpuNs) }

    private inline fun change(burst: Burst, change: Burst.() -> Unit) {
        synchronized(this) {
            burst.change()
            if (burst.isOver) over(burst)
        }
    }

    private fun over(burst: Burst) {
        if (current === burst) current = null
        statistics.burst(burst, clock.collections())
        FlightEvents.burst(name, burst)
        // Reads the CPU time of so few tasks that the readings cost at most a hundredth of the tasks' time.
        val share = costs.cpuClockNs * 2 / (MEASURED_SHARE * maxOf(1.0, statistics.model.itemNs))
        cpuEvery = if (statistics.model.warm) share.coerceIn(1.0, SELDOM).toInt() else 1
    }

    fun advice(): SiteAdvice =
        synchronized(this) {
            val size = if (statistics.bursts == 0L) 1 else maxOf(1, Math.round(statistics.size.mean).toInt())
            SiteAdvice(
                name,
                statistics.tasks,
                statistics.bursts,
                statistics.size.mean,
                statistics.elapsedNs.mean,
                statistics.model.itemNs,
                statistics.model.itemCpuNs,
                statistics.waitNs.mean,
                statistics.handNs.mean,
                statistics.threads,
                statistics.sleptBursts,
                statistics.predictedNs(Placement.INLINE, size),
                statistics.predictedNs(Placement.CPU, size),
                statistics.predictedNs(Placement.ELASTIC, size),
                rules.advice(statistics),
            )
        }

    private companion object {
        /** Maximum number of tasks in a burst. If a site is never idle, a new burst begins after this many tasks. */
        const val BURST_MAX = 1024
        /**
         * Maximum time in ns from the first to the last submission of a burst. If a site is never idle, a new burst
         * begins after this time.
         */
        const val BURST_NS_MAX = 1_000_000_000L
        const val MEASURED_SHARE = 0.01
        const val SELDOM = 32.0
    }
}

/** One burst of a watched site. The event is written when the burst ends, so its time stamp is the end. */
@Name("clearway.Burst")
@Label("Burst")
@Category("Clearway")
@Description("Tasks of one site that were in flight together")
@StackTrace(false)
internal class BurstEvent : Event() {
    @JvmField @field:Label("Site") var site: String? = null
    @JvmField @field:Label("Tasks") var tasks: Int = 0
    @JvmField @field:Label("Length") @field:Timespan(Timespan.NANOSECONDS) var length: Long = 0
    @JvmField @field:Label("Run time of all tasks") @field:Timespan(Timespan.NANOSECONDS) var ran: Long = 0
    @JvmField @field:Label("Wait time of all tasks") @field:Timespan(Timespan.NANOSECONDS) var waited: Long = 0
    @JvmField @field:Label("Hand-over time of all tasks") @field:Timespan(Timespan.NANOSECONDS) var handed: Long = 0
    @JvmField @field:Label("Concurrent tasks") var threads: Int = 0
}

/** Writes events to running flight recordings. Does nothing if the runtime has no flight recorder. */
internal object FlightEvents {
    fun burst(site: String, burst: Burst) {
        if (burst.done > 0 && Recorder.isInitialized) Writer.burst(site, burst)
    }

    private object Writer {
        fun burst(site: String, burst: Burst) {
            val event = BurstEvent()
            if (!event.shouldCommit()) return
            event.site = site
            event.tasks = burst.done
            event.length = burst.elapsedNs
            event.ran = burst.itemsNs
            event.waited = burst.waitedNs
            event.handed = burst.handOverNs
            event.threads = burst.threads
            event.commit()
        }
    }
}
