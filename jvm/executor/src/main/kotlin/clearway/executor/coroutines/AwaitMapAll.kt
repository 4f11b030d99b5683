// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.coroutines

import clearway.executor.AdaptiveExecutor
import clearway.executor.ItemResult
import clearway.executor.Site
import java.util.concurrent.CompletableFuture
import java.util.concurrent.RejectedExecutionException
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
 * @throws RejectedExecutionException after a shutdown of the executor, if `shutdownNow` ended the batch, or if an item
 *   threw CancellationException: only the coroutine's own cancellation ends it with that exception
 * @throws java.util.concurrent.CancellationException if the coroutine was cancelled
 */
public suspend fun <T, R> AdaptiveExecutor.awaitMapAll(site: Site, items: List<T>, transform: (T) -> R): List<R> {
    currentCoroutineContext().ensureActive()
    return awaitEnd(mapAllAsync(site, items, transform))
}

/**
 * Calls `transform` for every item as one batch, and returns how each item ended, in the order of the items. A failure
 * of an item ends nothing else. Otherwise it works as [awaitMapAll] does.
 *
 * @throws RejectedExecutionException after a shutdown of the executor, if `shutdownNow` ended the batch, or if an item
 *   threw CancellationException: only the coroutine's own cancellation ends it with that exception
 * @throws java.util.concurrent.CancellationException if the coroutine was cancelled
 */
public suspend fun <T, R> AdaptiveExecutor.awaitSettleAll(
    site: Site,
    items: List<T>,
    transform: (T) -> R,
): List<ItemResult<R>> {
    currentCoroutineContext().ensureActive()
    return awaitEnd(settleAllAsync(site, items, transform))
}

/**
 * Runs `block` as one task of `site`, and returns its result. Suspends until the task has ended. `block` may block, but
 * cannot suspend. Cancelling the coroutine drops a task that has not begun and interrupts a running one; the function
 * throws CancellationException when `block` does not run any more.
 *
 * @throws RejectedExecutionException after a shutdown of the executor, if `shutdownNow` dropped the task, or if `block`
 *   threw CancellationException
 * @throws java.util.concurrent.CancellationException if the coroutine was cancelled
 */
public suspend fun <R> AdaptiveExecutor.awaitCall(site: Site, block: () -> R): R {
    currentCoroutineContext().ensureActive()
    return awaitEnd(callAsync(site, block))
}

/**
 * Waits for a future. If the coroutine is cancelled, cancels the future and waits for its end. A coroutine ends
 * silently with a CancellationException, so a future that was cancelled elsewhere throws another exception.
 */
private suspend fun <R> awaitEnd(future: CompletableFuture<R>): R {
    try {
        return future.await()
    } catch (cancelled: CancellationException) {
        // `await` returns at once when the coroutine is cancelled. Items may still run.
        future.cancel(true)
        withContext(NonCancellable) { future.handle { _, _ -> }.await() }
        currentCoroutineContext().ensureActive()
        throw RejectedExecutionException("the work was cancelled, but its coroutine was not", cancelled)
    }
}
