// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.bench

import clearway.executor.AdaptiveExecutor
import java.util.concurrent.Callable
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors

/**
 * A strategy that runs a batch of actions and returns when all have run. It is created once, kept warm, and closed at
 * the end.
 */
internal abstract class Strategy(val name: String) : AutoCloseable {
    abstract fun run(seeds: List<Int>, action: Action)

    override fun close() {}
}

internal class Direct(name: String = "direct") : Strategy(name) {
    override fun run(seeds: List<Int>, action: Action) {
        for (seed in seeds) action.run(seed)
    }
}

/** Submits one task per action, all with one `invokeAll`, as the documentation of ExecutorService shows. */
internal class Pool(name: String, private val pool: ExecutorService) : Strategy(name) {
    override fun run(seeds: List<Int>, action: Action) {
        val tasks = ArrayList<Callable<Unit>>(seeds.size)
        for (seed in seeds) tasks += Callable { action.run(seed) }
        for (done in pool.invokeAll(tasks)) done.get()
    }

    override fun close(): Unit = pool.shutdown()
}

/** A hand-written strategy: one task per processor, each with a part of the list. */
internal class Chunked(private val threads: Int) : Strategy("fixed pool, a part each") {
    private val pool = Executors.newFixedThreadPool(threads)

    override fun run(seeds: List<Int>, action: Action) {
        val size = (seeds.size + threads - 1) / threads
        val tasks = ArrayList<Callable<Unit>>(threads)
        for (from in seeds.indices step size) {
            val part = seeds.subList(from, minOf(from + size, seeds.size))
            tasks += Callable { for (seed in part) action.run(seed) }
        }
        for (done in pool.invokeAll(tasks)) done.get()
    }

    override fun close(): Unit = pool.shutdown()
}

internal class Adaptive(private val executor: AdaptiveExecutor, site: String) : Strategy("Clearway adaptive") {
    private val site = executor.site(site)

    override fun run(seeds: List<Int>, action: Action): Unit = executor.runAll(site, seeds) { action.run(it) }
}

/** Returns all strategies that do not depend on the workload. Omits strategies that this JDK does not have. */
internal fun fixedStrategies(processors: Int): List<Strategy> =
    listOf(
        Direct(),
        Pool("fixed pool, $processors", Executors.newFixedThreadPool(processors)),
        Chunked(processors),
        Pool("work stealing, $processors", Executors.newWorkStealingPool(processors)),
        Pool("fixed pool, 100", Executors.newFixedThreadPool(100)),
        Pool("work stealing, 100", Executors.newWorkStealingPool(100)),
    ) + listOfNotNull(virtualThreads()?.let { Pool("virtual threads", it) }) + frameworks()

/**
 * Returns an executor of virtual threads, or null before JDK 21. Looks the method up by name, because JDK 17, which
 * compiles this code, does not have it.
 */
private fun virtualThreads(): ExecutorService? =
    if (Runtime.version().feature() < 21) null
    else Executors::class.java.getMethod("newVirtualThreadPerTaskExecutor").invoke(null) as ExecutorService
