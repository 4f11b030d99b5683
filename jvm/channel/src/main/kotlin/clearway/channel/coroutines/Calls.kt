// SPDX-License-Identifier: MIT OR Apache-2.0
@file:JvmName("SuspendingCalls")

package clearway.channel.coroutines

import clearway.channel.CallOptions
import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.channel.Endpoint
import clearway.channel.EndpointOptions
import clearway.channel.Messages
import clearway.channel.Methods
import clearway.channel.Reply
import clearway.channel.transport.ChannelTransport
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionException
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.suspendCancellableCoroutine

/**
 * Calls a method as [Methods.call] does, and suspends until the answer arrives. The exceptions are those of the future
 * of [Methods.call], which also says how the result is checked and converted to `R`.
 *
 * Cancelling the coroutine cancels the call at the other end. A coroutine that is already cancelled sends nothing.
 */
public suspend inline fun <reified R> Methods.awaitCall(
    method: String,
    args: Any? = null,
    options: CallOptions = CallOptions(),
): R = awaitResult("$name.$method") { call(method, args, options) }

@PublishedApi
internal suspend fun <R> awaitResult(what: String, start: () -> CompletableFuture<R>): R =
    awaitChannel(what, start = start)

/**
 * Sends a message as [Messages.send] does, and suspends until the reply arrives. The exceptions are those of the future
 * of [Messages.send]. Cancelling the coroutine cancels the message's handler at the other end.
 */
public suspend fun <T> Messages<T>.awaitSend(message: T?, options: CallOptions = CallOptions()): Reply<T> =
    awaitChannel(name) { send(message, options) }

/**
 * Sends a message without a reply as [Messages.post] does, and suspends until the transport has accepted it. If the
 * coroutine is cancelled while it waits, the message may still be sent.
 */
public suspend fun <T> Messages<T>.awaitPost(message: T?) {
    awaitChannel(name) { post(message) }
}

/**
 * Connects an endpoint as [Endpoint.connect] does, and suspends until both ends have agreed. Cancelling the coroutine
 * closes the transport.
 */
public suspend fun Endpoint.Companion.awaitConnect(
    transport: ChannelTransport,
    options: EndpointOptions = EndpointOptions(),
): Endpoint = awaitChannel("connect", { it.terminate() }) { connect(transport, options) }

/**
 * Starts an operation and waits for its future. Cancelling the coroutine cancels the future. A coroutine that is
 * already cancelled starts nothing.
 *
 * `release` receives a value that the future had when the coroutine was cancelled, so that no resource is lost. A
 * coroutine ends silently with a `CancellationException`, so only its own cancellation may throw one: another one, as
 * of a codec, is an error of the channel.
 */
internal suspend fun <T> awaitChannel(what: String, release: (T) -> Unit = {}, start: () -> CompletableFuture<T>): T {
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
        throw ChannelException(ChannelError.CANCELLED, "$what: cancelled, but not by its coroutine", null, other)
    }
}
