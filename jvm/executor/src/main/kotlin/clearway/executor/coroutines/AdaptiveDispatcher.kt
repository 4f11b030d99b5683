// SPDX-License-Identifier: MIT OR Apache-2.0
@file:JvmName("AdaptiveDispatchers")

package clearway.executor.coroutines

import clearway.executor.AdaptiveExecutor
import clearway.executor.Site
import kotlinx.coroutines.ExecutorCoroutineDispatcher
import kotlinx.coroutines.asCoroutineDispatcher

/**
 * Returns a dispatcher that runs coroutines as tasks of `site`. The executor measures the code between two suspensions.
 * It runs the code on a CPU worker if the code keeps a processor busy, and on an elastic thread (an extra thread, for
 * work that blocks) if the code blocks. So coroutines may make blocking calls. On an ordered site, one coroutine runs
 * at a time, in the order in which coroutines are resumed.
 *
 * The dispatching thread runs none of the work. `delay` and timeouts hold no thread. Allocates one task per dispatch.
 * After a shutdown of the executor or the dispatcher, coroutines are cancelled, and their `finally` blocks run on
 * `Dispatchers.IO`.
 *
 * A coroutine that waits for a thread is one of the tasks that `shutdownNow` of the executor returns. It stays
 * suspended until the caller runs that task, on any thread. `shutdown` and `close` lose no coroutine.
 *
 * The caller owns the dispatcher. `close` ends only this dispatcher, which then accepts no more dispatches; the
 * executor continues. Thread-safe.
 */
public fun AdaptiveExecutor.asDispatcher(site: Site): ExecutorCoroutineDispatcher =
    asExecutorService(site).asCoroutineDispatcher()
