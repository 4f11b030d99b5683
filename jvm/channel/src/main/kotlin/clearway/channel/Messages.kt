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

/** The answer to a message: a value, which may be null, or no value. */
public class Reply<T> private constructor(public val value: T?, public val isEmpty: Boolean) {
    override fun toString(): String = if (isEmpty) "Reply()" else "Reply($value)"

    public companion object {
        @JvmStatic public fun <T> of(value: T?): Reply<T> = Reply(value, false)

        /** The handler has nothing to say. Over the plain wire it arrives as null. */
        @JvmStatic public fun <T> empty(): Reply<T> = Reply(null, true)
    }
}

/**
 * Handles a channel's messages. It may block, and throw: [RemoteException] to choose the error that the sender gets.
 */
public fun interface MessageHandler<T> {
    @Throws(Exception::class) public fun handle(message: T?, context: HandlerContext): Reply<T>
}

/** Handles a channel's messages, and answers when its result is there. */
public fun interface AsyncMessageHandler<T> {
    @Throws(Exception::class) public fun handle(message: T?, context: HandlerContext): CompletionStage<Reply<T>>
}

/** A channel of whole messages, each with a reply if one is wanted. Either end may send and handle. */
public class Messages<T>
internal constructor(private val core: Core, public val name: String, private val codec: MessageCodec<T>) {
    private val link = core.link

    init {
        link.checkName(name)
    }

    /**
     * Sends a message; the future has the reply. Copies what the message holds before it returns. Throws what the codec
     * throws. The future fails with what the codec throws for the reply, [RemoteException], or [ChannelException]:
     * `no-handler`, `dropped`, `queue-full`, `deadline`, `timeout`, `transport-closed`, `too-large`. Cancelling it
     * cancels the call at the other end.
     */
    @JvmOverloads
    public fun send(message: T?, options: CallOptions = CallOptions()): CompletableFuture<Reply<T>> =
        core.call(name, codec.encode(message), options) { answer ->
            if (answer.flags and Flag.EMPTY != 0) Reply.empty() else Reply.of(link.decode(codec, answer))
        }

    /**
     * Sends a message without a reply. The future completes when the transport has the message, and fails as [send]'s.
     */
    public fun post(message: T?): CompletableFuture<Void?> = core.post(name, codec.encode(message))

    /**
     * Handles the other end's messages, early ones first, one after the other and in order. Closing the result removes
     * the handler; later messages wait for the next one. Throws IllegalArgumentException for a second handler.
     */
    public fun handle(handler: MessageHandler<T>): AutoCloseable = handleAsync { message, context ->
        CompletableFuture.completedFuture(handler.handle(message, context))
    }

    /** As [handle]; the next message does not wait for the answer to the one before. */
    public fun handleAsync(handler: AsyncMessageHandler<T>): AutoCloseable {
        val inOrder = SerialTasks(link.settings.executor)
        return core.router.handle(
            name,
            object : Handler {
                override fun request(served: Served) {
                    val task = { serve(served, handler) }
                    // It is put in line here, under the lock that was held when it arrived.
                    inOrder.add(task)
                    link.lock.defer { served.started { inOrder.start(task) } }
                }
            },
        )
    }

    private fun serve(served: Served, handler: AsyncMessageHandler<T>): Unit =
        run(
            served,
            { handler.handle(link.decode(codec, served.message), served) },
            { reply -> answer(served, reply) },
            { served.fail(it) },
        )

    private fun answer(served: Served, reply: Reply<T>) {
        if (reply.isEmpty) served.answer(Status.DONE, NOTHING, Flag.EMPTY)
        else served.answer(Status.DONE, codec.encode(reply.value))
    }
}
