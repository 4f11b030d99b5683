// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import clearway.executor.run.Lifecycle
import clearway.executor.run.Singles
import java.util.concurrent.AbstractExecutorService
import java.util.concurrent.Callable
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.FutureTask
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.RunnableFuture
import java.util.concurrent.TimeUnit

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
