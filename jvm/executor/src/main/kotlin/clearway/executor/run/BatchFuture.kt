// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture

/**
 * The future of an asynchronous batch. `cancel` cancels the batch. The future completes when no item of the batch runs
 * any more. If every item has returned, its value is `result`, which the items may have filled.
 */
internal class BatchFuture<V>(private val result: V) : CompletableFuture<V>() {
    @Volatile var batch: Batch? = null

    fun succeed() {
        complete(result)
    }

    override fun cancel(mayInterruptIfRunning: Boolean): Boolean {
        val running = batch ?: return super.cancel(mayInterruptIfRunning)
        running.cancel(CancellationException("cancelled"))
        return if (isDone) isCancelled else running.wasCancelled
    }
}
