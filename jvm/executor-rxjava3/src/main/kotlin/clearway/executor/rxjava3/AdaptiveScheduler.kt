// SPDX-License-Identifier: MIT OR Apache-2.0
@file:JvmName("AdaptiveSchedulers")

package clearway.executor.rxjava3

import clearway.executor.AdaptiveExecutor
import clearway.executor.Site
import io.reactivex.rxjava3.core.Scheduler
import io.reactivex.rxjava3.schedulers.Schedulers

/**
 * A scheduler whose work runs as tasks of `site`: on a CPU worker while it keeps a processor busy, on an elastic thread
 * when it blocks, by what was measured. One scheduler then serves where `computation()` and `io()` had to be told
 * apart.
 *
 * One worker's work runs in order and never at the same time, on any thread. Nothing runs on the thread that schedules.
 * Delays hold no thread. To dispose of what runs interrupts it. Allocates one task a schedule. After the end of the
 * executor, work goes to `RxJavaPlugins.onError` as a `RejectedExecutionException`, as with any executor.
 *
 * Has no threads of its own: `Scheduler.shutdown` does nothing, the executor's owner ends it. Safe for use from any
 * thread.
 */
public fun AdaptiveExecutor.asScheduler(site: Site): Scheduler = Schedulers.from(asExecutorService(site), true)
