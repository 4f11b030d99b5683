// SPDX-License-Identifier: MIT OR Apache-2.0
@file:JvmName("AdaptiveSchedulers")

package clearway.executor.rxjava3

import clearway.executor.AdaptiveExecutor
import clearway.executor.Site
import io.reactivex.rxjava3.core.Scheduler
import io.reactivex.rxjava3.schedulers.Schedulers

/**
 * Returns a scheduler that runs work as tasks of `site`. The executor measures the work. It uses a CPU worker if the
 * work keeps a processor busy, and an elastic thread (an extra thread, for work that blocks) if the work blocks. So one
 * scheduler replaces both `computation()` and `io()`.
 *
 * The tasks of one `Scheduler.Worker` run in order and never at the same time, on any thread. The scheduling thread
 * runs none of the work. Delays hold no thread. Disposing of running work interrupts it. Allocates one task per
 * scheduled job. After a shutdown of the executor, each job goes to `RxJavaPlugins.onError` as a
 * `RejectedExecutionException`, as with any executor.
 *
 * The scheduler uses only the executor's threads. `Scheduler.shutdown` does nothing; the executor's owner ends the
 * executor. Thread-safe.
 */
public fun AdaptiveExecutor.asScheduler(site: Site): Scheduler = Schedulers.from(asExecutorService(site), true)
