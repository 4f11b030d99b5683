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
import clearway.coroutines.InternalClearwayApi
import clearway.coroutines.awaitUncancelled
import java.util.concurrent.CompletableFuture

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

/** Waits for an operation of a channel. A cancellation that is not the coroutine's own, as of a codec, is an error. */
@OptIn(InternalClearwayApi::class)
internal suspend fun <T> awaitChannel(what: String, release: (T) -> Unit = {}, start: () -> CompletableFuture<T>): T =
    awaitUncancelled(
        release,
        { ChannelException(ChannelError.CANCELLED, "$what: cancelled, but not by its coroutine", null, it) },
        start,
    )
