// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.host

import clearway.plugin.Message
import java.util.concurrent.CompletableFuture

/**
 * The future of an answer. If the future is cancelled or times out, it notifies the plugin that the caller no longer
 * waits.
 */
internal class Pending(val channel: String, val tag: Long, private val instance: PluginInstance) :
    CompletableFuture<Message>() {
    /** libclearway's handle of the call, which [PluginInstance.giveUp] needs; 0 until the message is sent. */
    @Volatile var call: Long = 0

    override fun cancel(mayInterruptIfRunning: Boolean): Boolean {
        val cancelled = super.cancel(mayInterruptIfRunning)
        if (cancelled) instance.giveUp(this)
        return cancelled
    }

    /** Fails the future and gives up the call. `orTimeout` calls this method. */
    override fun completeExceptionally(problem: Throwable): Boolean {
        val failed = super.completeExceptionally(problem)
        if (failed) instance.giveUp(this)
        return failed
    }

    /** Completes the future with the plugin's answer. Releases the answer if the future is already complete. */
    fun answer(message: Message) {
        if (!complete(message)) message.close()
    }

    fun fail(problem: Throwable) {
        super.completeExceptionally(problem)
    }

    override fun <U> newIncompleteFuture(): CompletableFuture<U> = CompletableFuture()
}
