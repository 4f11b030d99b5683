// SPDX-License-Identifier: MIT OR Apache-2.0
@file:JvmName("AdaptiveDispatchers")

package clearway.executor.coroutines

import clearway.executor.AdaptiveExecutor
import clearway.executor.Site
import kotlinx.coroutines.ExecutorCoroutineDispatcher
import kotlinx.coroutines.asCoroutineDispatcher

/**
 * A dispatcher whose coroutines run as tasks of `site`: on a CPU worker while what they do between two suspensions
 * keeps a processor busy, on an elastic thread when it blocks, by what was measured. Blocking calls in a coroutine are
 * therefore no mistake here. On an ordered site one coroutine runs at a time, and in the order of their resumptions.
 *
 * Nothing runs on the thread that dispatches. `delay` and timeouts hold no thread. Allocates one task a dispatch. After
 * the end of the executor, or of the dispatcher, coroutines are cancelled, and their `finally` runs on
 * `Dispatchers.IO`.
 *
 * The caller owns it: `close` takes no more dispatches and ends this dispatcher alone, not the executor. Safe for use
 * from any thread.
 */
public fun AdaptiveExecutor.asDispatcher(site: Site): ExecutorCoroutineDispatcher =
    asExecutorService(site).asCoroutineDispatcher()
