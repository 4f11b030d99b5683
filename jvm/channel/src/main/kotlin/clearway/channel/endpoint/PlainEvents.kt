// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.CallOptions
import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.channel.EventStream
import clearway.channel.ListenOptions
import clearway.channel.WhenFull
import clearway.channel.codec.MethodCall
import clearway.channel.codec.MethodCodec
import clearway.channel.codec.MethodReply
import clearway.channel.codec.NOTHING
import clearway.channel.codec.OverLimit
import clearway.channel.codec.encodeReply
import clearway.channel.transport.SerialTasks
import clearway.channel.valueOf
import clearway.channel.wire.ErrorParts
import clearway.channel.wire.Head
import clearway.channel.wire.Op
import clearway.channel.wire.Status
import java.util.concurrent.CompletableFuture

/**
 * Serves a channel's events on the plain wire (spec/wire.md). The other end calls the methods `listen` and `cancel`. A
 * channel has at most one stream, and there is no credit. Events wait in a queue while the transport has no room.
 */
internal class PlainPublisher(
    private val core: Core,
    private val channel: String,
    private val codec: MethodCodec,
    private val serving: Serving,
) : Handler {
    private val connection = core.connection
    private val done = codec.encodeReply(MethodReply.Success(null))
    private val none = codec.encodeReply(MethodReply.Failure("error", "No active stream to cancel"))
    private val inOrder = SerialTasks(connection.settings.executor)
    private var active: Source? = null

    // The codec may be application code, so the executor runs it. A `cancel` stays behind its `listen`.
    override fun request(served: Served) {
        val task = { serve(served) }
        inOrder.add(task)
        connection.lock.defer { served.started { inOrder.start(task) } }
    }

    private fun serve(served: Served): Unit =
        run(
            served,
            { CompletableFuture.completedFuture(connection.decodeCall(codec, served.message).method) },
            { method -> connection.lock.locked { answer(served, method) } },
            { thrown -> served.fail(thrown) { connection.envelope(codec, it, connection.settings.stacks) } },
        )

    private fun answer(served: Served, method: String) {
        // The transport may have closed meanwhile. A stream that begins after that would never end.
        if (served.settled) return
        if (method == "listen" && core.plainRunning.size >= connection.settings.callsMax) served.answer(Status.BUSY)
        else if (method == "listen") {
            active?.cancel()
            // The answer must be sent before the first event.
            served.answer(Status.DONE, done)
            open(served.message)
            // `close` has ended the streams that it found, and would miss this one.
            if (connection.closing) active?.closing()
        } else if (method == "cancel") {
            val running = active
            running?.cancel()
            served.answer(Status.DONE, if (running == null) none else done)
        } else served.answer(Status.NOT_IMPLEMENTED)
    }

    private fun open(args: Received) {
        val wire =
            object : SourceWire {
                override fun encode(event: Any?) = serving.encode(event)

                override fun event(message: ByteArray, dropped: Long) =
                    connection.send(Head(Op.MESSAGE), name = connection.name(channel), body = message)

                override fun error(thrown: Throwable): ByteArray =
                    try {
                        connection.envelope(codec, connection.redacted(thrown, channel), connection.settings.stacks)
                    } catch (unwritten: Throwable) {
                        connection.settings.report(unwritten, channel)
                        NOTHING
                    }

                override fun end(status: Int, error: ByteArray, dropped: Long) {
                    val name =
                        try {
                            connection.name(channel)
                        } catch (_: IllegalArgumentException) {
                            return // No peer can listen to a channel whose name is too long for it.
                        }
                    if (error.isNotEmpty()) connection.control(Head(Op.MESSAGE), name = name, body = error)
                    connection.control(Head(Op.MESSAGE), name = name)
                }
            }
        val source =
            Source(connection, channel, serving.limits, wire) { ended ->
                core.plainSources.remove(ended)
                if (active === ended) active = null
            }
        source.onSourceEnded = { core.plainRunning.remove(source) }
        core.plainRunning.add(source)
        source.queue.credit.grant(UNBOUNDED, UNBOUNDED)
        core.plainSources.add(source)
        active = source
        serving.begin(source, Received(args.body.duplicate(), args.flags))
    }
}

/**
 * Encodes an error as an envelope of the plain wire, in at most `bytesMax` bytes. Leaves out details that the codec
 * cannot encode. If the envelope is too large, keeps only the code and the beginning of the message. Throws the codec's
 * exceptions.
 */
internal fun writeEnvelope(codec: MethodCodec, parts: ErrorParts, stacks: Boolean, bytesMax: Int): ByteArray {
    val stack = if (stacks) parts.stack else null
    fun encode(from: ErrorParts, details: Any?, stack: String?) =
        codec.encodeReply(MethodReply.Failure(from.code, from.message, details, stack), bytesMax)
    return try {
        try {
            encode(parts, parts.details, stack)
        } catch (over: OverLimit) {
            throw over
        } catch (_: Throwable) {
            encode(parts, null, stack)
        }
    } catch (_: OverLimit) {
        encode(parts.shortened(bytesMax), null, null)
    }
}

/**
 * The event streams that this end listens to on the plain wire (spec/wire.md). This end calls the methods `listen` and
 * `cancel`. Each event is a message, and a message without bytes ends the stream. There is no credit, so this end
 * limits the number and the bytes of the events that wait in each stream. A policy that drops events also reports their
 * number. With any other policy, a full buffer ends the stream with `queue-full`, because no event may be lost
 * silently.
 */
internal class PlainSubscriptions(private val connection: Connection, private val calls: Calls) {
    private inner class Subscription<T>(
        val channel: String,
        val codec: MethodCodec,
        val cancelMessage: ByteArray,
        val options: ListenOptions,
        val decode: (Received) -> T,
    ) : ListenerOwner<T> {
        val stream = Listener(connection.lock, this, UNBOUNDED, UNBOUNDED)
        private val capacity = if (options.capacity > 0) options.capacity else CAPACITY
        /** The number of events dropped since an event was last kept. Only `DROP_NEWEST` counts here. */
        private var missed = 0L

        override fun decode(message: Received): T = decode.invoke(message)

        override fun grant(items: Long, bytes: Long) {}

        override fun dropped(count: Long) {
            options.onDrop?.accept(count)
        }

        override fun cancel() {
            if (open[channel] !== this) return
            open.remove(channel)
            // The answer to the cancel is ignored. If the cancel were refused, the other end would go on sending.
            calls.call(channel, cancelMessage, CallOptions.NONE, isLimited = false) { _, _ -> }
        }

        fun end(error: Throwable?) {
            if (open[channel] === this) open.remove(channel)
            stream.ended(missed, error)
        }

        fun keep(message: Received) {
            if (isFull(message)) {
                if (options.whenFull == WhenFull.DROP_NEWEST) {
                    missed++
                    return
                }
                if (options.whenFull != WhenFull.DROP_OLDEST) {
                    cancel()
                    val what = "$channel: the reader is ${stream.waiting} events behind"
                    return stream.fail(ChannelException(ChannelError.QUEUE_FULL, what))
                }
                while (isFull(message)) stream.dropOldest()
            }
            stream.arrived(message, message.bytes, missed)
            missed = 0
        }

        // One event may wait whatever its size.
        private fun isFull(next: Received): Boolean =
            stream.waiting >= capacity ||
                (stream.waiting > 0 && stream.waitingBytes + next.keptBytes > connection.settings.replyBytesMax)

        fun begin(message: ByteArray) {
            calls.call(channel, message, CallOptions.NONE) { answer, failure ->
                val refused = failure ?: answer?.let(::refusal)
                if (refused != null) connection.lock.locked { if (open[channel] === this) end(refused) }
            }
        }

        private fun refusal(answer: Received): Throwable? =
            try {
                // The answer to `listen` is no event, so it need not have the type of one.
                valueOf(connection.decodeReply(codec, answer), channel)
                null
            } catch (thrown: Throwable) {
                thrown
            }
    }

    private val open = HashMap<String, Subscription<*>>()

    val size: Int
        get() = open.size

    fun <T> listen(
        channel: String,
        codec: MethodCodec,
        args: Any?,
        options: ListenOptions,
        decode: (Received) -> T,
    ): EventStream<T> {
        var tooLarge: Throwable? = null
        var message = NOTHING
        var cancelMessage = NOTHING
        try {
            message = connection.encodeCall(codec, MethodCall("listen", args))
            cancelMessage = connection.encodeCall(codec, MethodCall("cancel", args))
        } catch (over: OverLimit) {
            tooLarge = connection.tooLarge(over)
        }
        return connection.lock.locked {
            val listen = Subscription(channel, codec, cancelMessage, options, decode)
            if (tooLarge != null) listen.stream.fail(tooLarge)
            else if (connection.over) listen.stream.fail(connection.closedError("events of $channel"))
            else {
                // The other end ends the first stream when it receives the second `listen`.
                open[channel]?.end(
                    ChannelException(ChannelError.CANCELLED, "$channel: a second listen took this one's place")
                )
                open[channel] = listen
                listen.begin(message)
            }
            listen.stream
        }
    }

    /** Passes a message to its channel's stream. Returns false if the channel has no stream. */
    fun message(channel: String, message: Received): Boolean {
        val listen = open[channel] ?: return false
        if (message.body.hasRemaining()) listen.keep(message) else listen.end(null)
        return true
    }

    /** Ends all streams, because the transport has closed. */
    fun closed() {
        for (listen in open.values.toList()) listen.end(connection.closedError("events of ${listen.channel}"))
    }

    private companion object {
        /** Default capacity of a stream, in events. The other end needs no credit and may send at any rate. */
        const val CAPACITY = 1024
    }
}
