// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.MessageCodec
import clearway.channel.codec.NOTHING
import clearway.channel.endpoint.Core
import clearway.channel.endpoint.Handler
import clearway.channel.endpoint.Served
import clearway.channel.endpoint.run
import clearway.channel.transport.SerialTasks
import clearway.channel.wire.Flag
import clearway.channel.wire.Status
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage

/** The reply to a message: a value, which may be null, or no value. */
public class Reply<T> private constructor(public val value: T?, public val isEmpty: Boolean) {
    override fun toString(): String = if (isEmpty) "Reply()" else "Reply($value)"

    public companion object {
        @JvmStatic public fun <T> of(value: T?): Reply<T> = Reply(value, false)

        /**
         * Returns a reply without a value. On the plain wire, the reply is a message without bytes, which most codecs
         * decode as null.
         */
        @JvmStatic public fun <T> empty(): Reply<T> = Reply(null, true)
    }
}

/**
 * Handles a channel's messages. A handler may block. It may throw a [RemoteException] to choose the error that the
 * sender gets.
 */
public fun interface MessageHandler<T> {
    @Throws(Exception::class) public fun handle(message: T?, context: HandlerContext): Reply<T>
}

/** Handles a channel's messages and replies later. The reply is sent when the returned stage completes. */
public fun interface AsyncMessageHandler<T> {
    @Throws(Exception::class) public fun handle(message: T?, context: HandlerContext): CompletionStage<Reply<T>>
}

/** A channel of single messages. Each message may have a reply. Both ends may send and handle messages. */
public class Messages<T>
internal constructor(private val core: Core, public val name: String, private val codec: MessageCodec<T>) {
    private val connection = core.connection

    init {
        connection.checkName(name)
    }

    /**
     * Sends a message. The future completes with the reply. The message is encoded before this function returns, so the
     * caller may change it afterwards. Throws the codec's exceptions for the message. The future fails with the codec's
     * exceptions for the reply, with a [RemoteException], or with a [ChannelException]: `no-handler`, `dropped`,
     * `queue-full`, `deadline`, `timeout`, `transport-closed`, `too-large`. Cancelling the future cancels the call at
     * the other end.
     */
    @JvmOverloads
    public fun send(message: T?, options: CallOptions = CallOptions()): CompletableFuture<Reply<T>> =
        core.call(name, options, { connection.encode(codec, message) }) { answer ->
            if (answer.flags and Flag.EMPTY != 0) Reply.empty() else Reply.of(connection.decode(codec, answer))
        }

    /**
     * Sends a message that has no reply. The future completes when the transport has accepted the message. If the
     * message cannot be sent, the future fails as the future of [send] does.
     */
    public fun post(message: T?): CompletableFuture<Void?> = core.post(name) { connection.encode(codec, message) }

    /**
     * Handles the other end's messages one at a time, in order. Messages that arrived before this handler come first.
     * Closing the result removes the handler, and later messages wait for the next handler. Throws
     * IllegalArgumentException if the channel has a handler.
     */
    public fun handle(handler: MessageHandler<T>): AutoCloseable = handleAsync { message, context ->
        CompletableFuture.completedFuture(handler.handle(message, context))
    }

    /**
     * Handles the other end's messages as [handle] does, with one difference. The next message does not wait for the
     * reply to the previous one.
     */
    public fun handleAsync(handler: AsyncMessageHandler<T>): AutoCloseable {
        val inOrder = SerialTasks(connection.settings.executor)
        return core.router.handle(
            name,
            object : Handler {
                override fun request(served: Served) {
                    val task = { serve(served, handler) }
                    // The task is added under the lock, so that the queue has the order of arrival.
                    inOrder.add(task)
                    connection.lock.defer { served.started { inOrder.start(task) } }
                }
            },
        )
    }

    private fun serve(served: Served, handler: AsyncMessageHandler<T>): Unit =
        run(
            served,
            { handler.handle(connection.decode(codec, served.message), served) },
            { reply -> answer(served, reply) },
            { served.fail(it) },
        )

    private fun answer(served: Served, reply: Reply<T>) {
        if (reply.isEmpty) served.answer(Status.DONE, NOTHING, Flag.EMPTY)
        else served.answer { connection.encode(codec, reply.value) }
    }
}

/** Describes the request that a handler serves. It is the second argument of each handler. Thread-safe. */
public interface HandlerContext {
    /** The channel's name. */
    public val channel: String

    /**
     * The deadline that the caller set for the call; null if there is none. It is in milliseconds from the start of the
     * call.
     */
    public val deadlineMs: Long?

    /**
     * Whether the call was cancelled, its time is over, or the transport has closed. No caller waits for the answer
     * then.
     */
    public val isCancelled: Boolean

    /**
     * Runs `act` once when [isCancelled] becomes true, or at once if it is true already. `act` runs on the thread that
     * cancels, such as the thread that reads the transport. It must not block.
     */
    public fun onCancel(act: Runnable)
}
