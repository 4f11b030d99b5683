// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.host

import clearway.plugin.Message
import java.util.concurrent.CompletableFuture

/** The future of an answer. Cancelling it, or its timeout, tells the plugin that no caller waits any more. */
internal class Pending(val channel: String, val tag: Long, private val opening: Opening) :
    CompletableFuture<Message>() {
    /** The core's own name of the call, for giving up; 0 until it is sent. */
    @Volatile var call: Long = 0

    override fun cancel(mayInterruptIfRunning: Boolean): Boolean {
        val cancelled = super.cancel(mayInterruptIfRunning)
        if (cancelled) opening.giveUp(this)
        return cancelled
    }

    /** Called by `orTimeout`. */
    override fun completeExceptionally(problem: Throwable): Boolean {
        val failed = super.completeExceptionally(problem)
        if (failed) opening.giveUp(this)
        return failed
    }

    /** Completes with the plugin's answer, or releases it if the call was cancelled meanwhile. */
    fun answer(message: Message) {
        if (!complete(message)) message.close()
    }

    fun fail(problem: Throwable) {
        super.completeExceptionally(problem)
    }

    override fun <U> newIncompleteFuture(): CompletableFuture<U> = CompletableFuture()
}
