// SPDX-License-Identifier: MIT OR Apache-2.0
@file:JvmName("SuspendingHandlers")

package clearway.channel.coroutines

import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.channel.EventSink
import clearway.channel.Events
import clearway.channel.HandlerContext
import clearway.channel.Messages
import clearway.channel.MethodTable
import clearway.channel.Reply
import clearway.channel.ServeOptions
import clearway.channel.transport.withSafeToString
import java.util.concurrent.CompletableFuture
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.flow.takeWhile
import kotlinx.coroutines.launch

/**
 * Adds a method that suspends. Each call runs in a coroutine of `scope`. When the call is cancelled or its time is
 * over, that coroutine is cancelled. It counts against `callsMax` of the endpoint until it has ended. An exception goes
 * to the caller and does not cancel `scope`. Calls fail with `cancelled` after `scope` was cancelled.
 *
 * Throws IllegalArgumentException if the table has a method with this name.
 */
public fun MethodTable.onSuspending(
    method: String,
    scope: CoroutineScope,
    handler: suspend (args: Any?, context: HandlerContext) -> Any?,
): MethodTable =
    on(method) { args, context -> scope.run(context.channel, context::onCancel) { handler(args, context) } }

/**
 * Handles the channel's messages with a function that suspends. The coroutines run in `scope`, at the same time, under
 * the rules of [onSuspending]. Closing the result removes the handler. Throws IllegalArgumentException if the channel
 * has a handler.
 */
public fun <T> Messages<T>.handleSuspending(
    scope: CoroutineScope,
    handler: suspend (message: T?, context: HandlerContext) -> Reply<T>,
): AutoCloseable = handleAsync { message, context ->
    scope.run(context.channel, context::onCancel) { handler(message, context) }
}

/**
 * Serves the channel's events from flows, one for each listener. A coroutine of `scope` collects the flow, and suspends
 * while the listener's queue is full. It is cancelled when the listener cancels or the transport closes. The end of the
 * flow ends the stream, and an exception of the flow ends it with that error. Calls of `source` must not block.
 *
 * Closing the result stops serving new listeners. Throws IllegalArgumentException if the channel is served already.
 */
public fun Events.serveFlow(
    scope: CoroutineScope,
    options: ServeOptions = ServeOptions(),
    source: (args: Any?) -> Flow<*>,
): AutoCloseable =
    serveAsync({ args, sink -> scope.run(sink.channel, sink::onCancel) { sendAll(source(args), sink) } }, options)

private suspend fun sendAll(values: Flow<*>, sink: EventSink) {
    values
        .takeWhile { value ->
            val taken = awaitChannel(sink.channel) { sink.send(value) }
            // The policy may have dropped the event. A stream that is over cancels this coroutine.
            if (!taken) currentCoroutineContext().ensureActive()
            taken || !sink.isCancelled
        }
        .collect()
}

/**
 * Runs `act` in a coroutine, which `onCancel` cancels. The future completes when the coroutine has ended, not when it
 * is cancelled: until then, it counts for the peer that caused it.
 */
private fun <T> CoroutineScope.run(
    channel: String,
    onCancel: (Runnable) -> Unit,
    act: suspend () -> T,
): CompletableFuture<T> {
    val done = CompletableFuture<T>()
    var result: Result<T>? = null
    val job = launch {
        // The exception goes to the caller at the other end. It must not end the other coroutines of the scope.
        result = runCatching { act() }
    }
    onCancel { job.cancel() }
    job.invokeOnCompletion { stopped ->
        val thrown = stopped ?: result?.exceptionOrNull()
        when {
            thrown is CancellationException ->
                done.completeExceptionally(
                    ChannelException(ChannelError.CANCELLED, "$channel: the handler was cancelled", null, thrown)
                )
            thrown != null -> done.completeExceptionally(withSafeToString(thrown))
            else -> done.complete(result?.getOrNull())
        }
    }
    return done
}
