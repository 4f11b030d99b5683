// SPDX-License-Identifier: MIT OR Apache-2.0
@file:JvmName("AdaptiveSchedulers")

package clearway.executor.rxjava3

import clearway.executor.AdaptiveExecutor
import clearway.executor.Site
import io.reactivex.rxjava3.core.Scheduler
import io.reactivex.rxjava3.disposables.Disposable
import io.reactivex.rxjava3.schedulers.Schedulers
import java.util.concurrent.ExecutorService
import java.util.concurrent.TimeUnit

/**
 * Returns a scheduler that runs work as tasks of `site`. The executor measures the work. It uses a CPU worker if the
 * work keeps a processor busy, and an elastic thread (an extra thread, for work that blocks) if the work blocks. So one
 * scheduler replaces both `computation()` and `io()`.
 *
 * The tasks of one `Scheduler.Worker` run in order and never at the same time, on any thread. The scheduling thread
 * runs none of the work. Delays hold no thread. Disposing of running work interrupts it, unless the work itself
 * disposes of it, as `take` and `firstOrError` do. Allocates two objects per scheduled job. After a shutdown of the
 * executor, each job goes to `RxJavaPlugins.onError` as a `RejectedExecutionException`, as with any executor.
 *
 * The scheduler uses only the executor's threads. `Scheduler.shutdown` does nothing; the executor's owner ends the
 * executor. Thread-safe.
 */
public fun AdaptiveExecutor.asScheduler(site: Site): Scheduler = AdaptiveScheduler(asExecutorService(site))

private class AdaptiveScheduler(executor: ExecutorService) : Scheduler() {
    private val direct = Schedulers.from(executor, true)
    private val ordered = Schedulers.from(executor, false)

    override fun createWorker(): Worker = OrderedWorker(ordered.createWorker())

    override fun scheduleDirect(run: Runnable): Disposable = direct.scheduleDirect(run)

    override fun scheduleDirect(run: Runnable, delay: Long, unit: TimeUnit): Disposable =
        direct.scheduleDirect(run, delay, unit)
}
