// SPDX-License-Identifier: MIT OR Apache-2.0
@file:JvmName("AdaptiveDispatchers")

package clearway.executor.coroutines

import clearway.executor.AdaptiveExecutor
import clearway.executor.Site
import kotlinx.coroutines.ExecutorCoroutineDispatcher
import kotlinx.coroutines.asCoroutineDispatcher

/**
 * Returns a dispatcher that runs coroutines as tasks of `site`. The executor selects a CPU worker while the code
 * between two suspensions keeps a processor busy, and an elastic thread when it blocks, based on its measurements. So
 * coroutines may make blocking calls. On an ordered site one coroutine runs at a time, in the order of their
 * resumptions.
 *
 * The dispatching thread runs none of the work. `delay` and timeouts hold no thread. Allocates one task per dispatch.
 * After the end of the executor or the dispatcher, coroutines are cancelled, and their `finally` blocks run on
 * `Dispatchers.IO`.
 *
 * The caller owns the dispatcher. `close` ends only this dispatcher, which then accepts no more dispatches; the
 * executor continues. Thread-safe.
 */
public fun AdaptiveExecutor.asDispatcher(site: Site): ExecutorCoroutineDispatcher =
    asExecutorService(site).asCoroutineDispatcher()
