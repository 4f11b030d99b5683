// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import java.util.concurrent.Callable
import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture

/**
 * A single task with its future. `cancel` drops the task, or interrupts it if it runs. The future completes when the
 * task does not run any more. If the task was dropped, the future is cancelled.
 */
internal class TaskFuture<R>(private val call: Callable<R>) : CompletableFuture<R>(), Runnable {
    @Volatile var single: Singles.Single? = null
    @Volatile private var cancelled = false
    private var ran = false
    private var value: R? = null
    private var failure: Throwable? = null

    override fun run() {
        try {
            value = call.call()
        } catch (thrown: Throwable) {
            failure = thrown
        }
        ran = true
    }

    /** Completes the future. Called once, when the task has run or was dropped, by the thread that ended it. */
    fun settle() {
        val thrown = failure
        @Suppress("UNCHECKED_CAST") // `value` is the result of `call`, if the call has returned.
        when {
            cancelled || !ran -> completeExceptionally(CancellationException("cancelled"))
            thrown != null -> completeExceptionally(withSafeToString(thrown))
            else -> complete(value as R)
        }
    }

    override fun cancel(mayInterruptIfRunning: Boolean): Boolean {
        if (isDone) return isCancelled
        cancelled = true
        val mine = single
        if (mine != null) {
            if (mine.drop()) settle() else if (mayInterruptIfRunning) mine.interrupt()
        }
        return !isDone || isCancelled
    }
}
