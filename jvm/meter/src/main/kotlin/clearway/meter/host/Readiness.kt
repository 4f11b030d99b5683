// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import java.util.concurrent.CompletableFuture
import java.util.concurrent.Executor
import java.util.concurrent.TimeUnit
import java.util.function.Supplier

/**
 * Tells all readers that a watch is ready. They share one future, because a copy for each would stay until the watch is
 * ready. So only [end] completes it: no reader can end the wait of the others.
 */
internal class Readiness : CompletableFuture<Void?>() {
    /** Completes the future. */
    fun end() {
        super.complete(null)
    }

    override fun complete(value: Void?): Boolean = false

    override fun completeExceptionally(thrown: Throwable?): Boolean = false

    override fun cancel(mayInterruptIfRunning: Boolean): Boolean = false

    override fun obtrudeValue(value: Void?): Unit = Unit

    override fun obtrudeException(thrown: Throwable?): Unit = Unit

    override fun completeAsync(supplier: Supplier<out Void?>, executor: Executor): CompletableFuture<Void?> = this

    /** Returns a future of the reader's own. */
    override fun orTimeout(timeout: Long, unit: TimeUnit): CompletableFuture<Void?> =
        thenApply { it }.orTimeout(timeout, unit)

    /** Returns a future of the reader's own. */
    override fun completeOnTimeout(value: Void?, timeout: Long, unit: TimeUnit): CompletableFuture<Void?> =
        thenApply { it }.completeOnTimeout(value, timeout, unit)
}
