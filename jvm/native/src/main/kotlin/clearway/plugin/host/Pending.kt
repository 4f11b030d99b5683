// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.host

import clearway.plugin.Message
import java.util.concurrent.CompletableFuture

/** The answer to come. Whoever cancels it, or lets it time out, tells the plugin that nobody waits any more. */
internal class Pending(val channel: String, val tag: Long, private val opening: Opening) :
    CompletableFuture<Message>() {
    /** The core's own name of the call, for giving up; 0 until it is sent. */
    @Volatile var call: Long = 0

    override fun cancel(mayInterruptIfRunning: Boolean): Boolean {
        val cancelled = super.cancel(mayInterruptIfRunning)
        if (cancelled) opening.giveUp(this)
        return cancelled
    }

    /** What `orTimeout` calls. */
    override fun completeExceptionally(problem: Throwable): Boolean {
        val failed = super.completeExceptionally(problem)
        if (failed) opening.giveUp(this)
        return failed
    }

    /** The plugin's answer; nobody's where somebody gave up just now. */
    fun answer(message: Message) {
        if (!complete(message)) message.close()
    }

    fun fail(problem: Throwable) {
        super.completeExceptionally(problem)
    }

    override fun <U> newIncompleteFuture(): CompletableFuture<U> = CompletableFuture()
}
