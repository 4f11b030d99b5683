// SPDX-License-Identifier: MIT OR Apache-2.0
@file:JvmName("PluginCoroutines")

package clearway.plugin.coroutines

import clearway.plugin.ListenOptions
import clearway.plugin.Memory
import clearway.plugin.Message
import clearway.plugin.Payload
import clearway.plugin.PluginChannel
import clearway.plugin.PluginErrorCode
import clearway.plugin.PluginException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionException
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.suspendCancellableCoroutine

/**
 * Sends a message as [PluginChannel.send] does, and suspends until the answer arrives. The caller owns the answer and
 * must close it if it has native memory. Throws [clearway.plugin.PluginException].
 *
 * Cancelling the coroutine notifies the plugin that the caller no longer waits. An answer that arrives at that moment
 * is released. A coroutine that is already cancelled sends nothing. Memory of the message that is lent stays lent until
 * the plugin has returned it, even after a cancellation.
 */
public suspend fun PluginChannel.awaitSend(message: Payload? = null, attachments: List<Memory> = emptyList()): Message =
    awaitPlugin(Message::close) { send(message, attachments) }

/**
 * Sends a copy of the bytes as [PluginChannel.send] does, and suspends until the answer arrives. The rules of the other
 * overload apply.
 */
public suspend fun PluginChannel.awaitSend(message: ByteArray): Message = awaitSend(Payload.of(message))

/**
 * Returns a cold flow of the channel's events: each collection listens as [PluginChannel.listen] does. The collector
 * gets one event at a time, and credit is granted after it was taken, so a slow collector slows down the source or
 * applies its policy.
 *
 * **An event's native memory is released when the collector returns from it.** Copy or decode what is needed later, for
 * example with `map`, before an operator that keeps events, such as `buffer` or `conflate`. Access to a released event
 * throws `released`.
 *
 * The stream ends when the collection ends, in any way: the last event, an operator such as `take`, an exception of the
 * collector, or cancellation. The source is then cancelled, and all waiting events are released. The flow throws the
 * stream's error, after all events before it. A plugin with [clearway.plugin.ViewKind.CONFINED] needs a dispatcher with
 * one thread.
 */
@JvmOverloads
public fun PluginChannel.asFlow(options: ListenOptions = ListenOptions()): Flow<Message> = flow {
    currentCoroutineContext().ensureActive()
    listen(options).use { events ->
        while (true) {
            val event = awaitPlugin<Message?>({ it?.close() }) { events.read() } ?: break
            event.use { emit(it) }
        }
    }
}

/**
 * Starts an operation and waits for its future, as `awaitChannel` of the module `channel` does, which an app with
 * plugins need not have. `release` receives a value that arrived when the coroutine was cancelled. A cancellation that
 * is not the coroutine's own is an error.
 */
private suspend fun <T> awaitPlugin(release: (T) -> Unit, start: () -> CompletableFuture<T>): T {
    currentCoroutineContext().ensureActive()
    try {
        val future = start()
        return suspendCancellableCoroutine { waiting ->
            waiting.invokeOnCancellation { future.cancel(false) }
            future.whenComplete { value, thrown ->
                if (thrown == null) waiting.resume(value) { _, lost, _ -> release(lost) }
                else waiting.resumeWithException((thrown as? CompletionException)?.cause ?: thrown)
            }
        }
    } catch (other: CancellationException) {
        currentCoroutineContext().ensureActive()
        throw PluginException(PluginErrorCode.CANCELLED, "cancelled, but not by the coroutine", other)
    }
}
