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
 * Says of executors that are there already where their tasks would be quicker, and by how much: with the statistics of
 * the adaptive executor, read only. Wrap each call site's executor by [watch] under a name of its own; use what comes
 * back instead; ask for a [report] when the app has run for a while.
 *
 * For any thread. Starts none. A watched task costs 1 to 2 us more, of which a site of long tasks sees nothing.
 */
public class Advisor internal constructor(private val processors: Int, private val clock: Clock) {
    /** @param processors threads that can run at the same time; by default what the JVM was given */
    @JvmOverloads
    public constructor(processors: Int = Runtime.getRuntime().availableProcessors()) : this(processors, SystemClock)

    private val sites = ConcurrentHashMap<String, WatchedSite>()
    private val eventThreads = ConcurrentHashMap.newKeySet<Thread>()
    @Volatile private var eventBudgetNs = Duration.ofMillis(1).toNanos()

    init {
        require(processors >= 1) { "processors must be positive: processors=$processors" }
    }

    /**
     * An executor that gives every task to `executor` and learns under `name`. Shutting it down shuts `executor` down;
     * whose tasks run is not changed, nor is anything else. Work of two kinds should have two names.
     *
     * @throws IllegalArgumentException if the name is taken
     */
    public fun watch(executor: ExecutorService, name: String): ExecutorService {
        val setting = Setting(processors, threadsMax(executor)) { eventBudgetNs }
        val site = WatchedSite(name, setting, clock, eventThreads::contains)
        require(sites.putIfAbsent(name, site) == null) { "a site of this name is watched already: name=$name" }
        return WatchedExecutor(executor, site, clock)
    }

    /** The advisor advises this thread to run its tasks itself only if they almost always fit into `budget`. */
    @JvmOverloads
    public fun registerEventThread(thread: Thread, budget: Duration = Duration.ofMillis(1)) {
        require(!budget.isNegative) { "budget must not be negative: budget=$budget" }
        eventBudgetNs = budget.toNanos()
        eventThreads += thread
    }

    /** The advice so far, sites by name. Allocates. */
    public fun report(): AdvisorReport = AdvisorReport(sites.values.map { it.advice() }.sortedBy { it.name })

    private fun threadsMax(executor: ExecutorService): Int =
        when (executor) {
            is ThreadPoolExecutor -> executor.maximumPoolSize
            is ForkJoinPool -> executor.parallelism
            else -> Int.MAX_VALUE
        }
}
