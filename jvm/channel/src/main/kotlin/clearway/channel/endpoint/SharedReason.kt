// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.transport.CloseReason
import java.util.concurrent.CompletableFuture
import java.util.concurrent.Executor
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException
import java.util.function.Supplier

/**
 * The reason why an endpoint has closed, for all its readers. They share one future, because a copy for each would stay
 * until the end. So only [end] completes it: no reader can end the wait of the others. For example, a coroutine cancels
 * the future that it waits for when it is cancelled itself.
 *
 * Java 9 added some of these functions. They are compiled without `override` for Java 8 and override all the same,
 * because their parameters have the same types after erasure.
 */
internal class SharedReason(private val clock: Clock) : CompletableFuture<CloseReason>() {
    /** Completes the future. */
    fun end(reason: CloseReason) {
        super.complete(reason)
    }

    override fun complete(value: CloseReason?): Boolean = false

    override fun completeExceptionally(thrown: Throwable?): Boolean = false

    override fun cancel(mayInterruptIfRunning: Boolean): Boolean = false

    override fun obtrudeValue(value: CloseReason?): Unit = Unit

    override fun obtrudeException(thrown: Throwable?): Unit = Unit

    @Suppress("UNUSED_PARAMETER")
    fun completeAsync(supplier: Supplier<out CloseReason>, executor: Executor): CompletableFuture<CloseReason> = this

    /** Returns a future of the reader's own that fails after this time. */
    fun orTimeout(timeout: Long, unit: TimeUnit): CompletableFuture<CloseReason> =
        after(timeout, unit) { it.completeExceptionally(TimeoutException()) }

    /** Returns a future of the reader's own that completes with `value` after this time. */
    fun completeOnTimeout(value: Any?, timeout: Long, unit: TimeUnit): CompletableFuture<CloseReason> =
        after(timeout, unit) { it.complete(value as CloseReason?) }

    private fun after(
        timeout: Long,
        unit: TimeUnit,
        end: (CompletableFuture<CloseReason>) -> Unit,
    ): CompletableFuture<CloseReason> {
        val own = thenApply { it }
        val timer = clock.after(unit.toMillis(timeout)) { end(own) }
        own.whenComplete { _, _ -> timer.stop() }
        return own
    }
}
