// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.advisor

import clearway.executor.host.Clock
import clearway.executor.host.SystemClock
import java.time.Duration
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.ExecutorService
import java.util.concurrent.ForkJoinPool
import java.util.concurrent.ThreadPoolExecutor

/**
 * Reports where the tasks of existing executors would run faster, and by how much. It uses the adaptive executor's
 * statistics, and changes nothing. Wrap the executor of each call site (a place that submits one kind of work) with
 * [watch], under a separate name. Use the returned executor, and request a [report] after the app has run for a while.
 *
 * Thread-safe. Starts no threads. Adds 1 to 2 us to a watched task, which is negligible for long tasks.
 */
public class Advisor internal constructor(private val processors: Int, private val clock: Clock) {
    /** @param processors number of threads that can run at the same time. Default: the JVM's processors */
    @JvmOverloads
    public constructor(processors: Int = Runtime.getRuntime().availableProcessors()) : this(processors, SystemClock)

    private val sites = ConcurrentHashMap<String, WatchedSite>()
    private val eventThreads = ConcurrentHashMap.newKeySet<Thread>()
    @Volatile private var eventBudgetNs = Duration.ofMillis(1).toNanos()

    init {
        require(processors >= 1) { "processors must be positive: processors=$processors" }
    }

    /**
     * Returns an executor that passes every task to `executor` and measures it under `name`. It does not change where
     * or how tasks run. Its shutdown shuts `executor` down. Use two names for two kinds of work.
     *
     * @throws IllegalArgumentException if the name is in use
     */
    public fun watch(executor: ExecutorService, name: String): ExecutorService {
        val setting = Setting(processors, threadsMax(executor)) { eventBudgetNs }
        val site = WatchedSite(name, setting, clock, eventThreads::contains)
        require(sites.putIfAbsent(name, site) == null) { "a site of this name is watched already: name=$name" }
        return WatchedExecutor(executor, site, clock)
    }

    /**
     * Registers an event thread. The report advises to run work on that thread only if the work nearly always fits into
     * `budget`. The last `budget` applies to all event threads.
     */
    @JvmOverloads
    public fun registerEventThread(thread: Thread, budget: Duration = Duration.ofMillis(1)) {
        require(!budget.isNegative) { "budget must not be negative: budget=$budget" }
        eventBudgetNs = budget.toNanos()
        eventThreads += thread
    }

    /** Returns the advice so far, with the sites sorted by name. Allocates. */
    public fun report(): AdvisorReport = AdvisorReport(sites.values.map { it.advice() }.sortedBy { it.name })

    private fun threadsMax(executor: ExecutorService): Int =
        when (executor) {
            is ThreadPoolExecutor -> executor.maximumPoolSize
            is ForkJoinPool -> executor.parallelism
            else -> Int.MAX_VALUE
        }
}
