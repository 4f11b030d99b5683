// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.coroutines

import clearway.executor.AdaptiveExecutor
import clearway.executor.Site
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.future.await
import kotlinx.coroutines.withContext

/**
 * Calls `transform` for every item as one batch, and returns the results in the order of the items. Works as
 * [AdaptiveExecutor.mapAllAsync] does, and suspends until no item runs any more: it holds no thread of the coroutine's
 * dispatcher. `transform` runs on the executor's threads. It may block, but cannot suspend.
 *
 * Cancelling the coroutine ends the batch: no further item begins, and the threads in items are interrupted. The
 * function throws CancellationException when they have left their items.
 *
 * @throws java.util.concurrent.RejectedExecutionException after a shutdown of the executor
 * @throws java.util.concurrent.CancellationException if the coroutine was cancelled, or `shutdownNow` ended the batch
 */
public suspend fun <T, R> AdaptiveExecutor.awaitMapAll(site: Site, items: List<T>, transform: (T) -> R): List<R> {
    currentCoroutineContext().ensureActive()
    val future = mapAllAsync(site, items, transform)
    try {
        return future.await()
    } catch (cancelled: CancellationException) {
        // `await` returns at once when the coroutine is cancelled. Items may still run.
        future.cancel(true)
        withContext(NonCancellable) { future.handle { _, _ -> }.await() }
        throw cancelled
    }
}
