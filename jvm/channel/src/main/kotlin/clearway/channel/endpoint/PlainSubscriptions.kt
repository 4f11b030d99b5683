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

/**
 * Streams of events of a foreign end: `listen` and `cancel` are methods, each event is a message, and a message without
 * bytes is the end (spec/wire.md). There is no credit, so the reader's own buffer is bounded: the dropping policies
 * drop and report it, and everything else ends the stream with `queue-full`, because nothing is lost in silence.
 */
internal class PlainSubscriptions(private val link: Link, private val calls: Calls) {
    private inner class Subscription<T>(
        val channel: String,
        val codec: MethodCodec,
        val args: Any?,
        val options: ListenOptions,
        val decode: (Received) -> T,
    ) : ListenerOwner<T> {
        val stream = Listener(link.lock, this, UNBOUNDED, UNBOUNDED)
        private val capacity = if (options.capacity > 0) options.capacity else CAPACITY
        /** Dropped since the event that was kept last, under `DROP_NEWEST`. */
        private var missed = 0L

        override fun decode(message: Received): T = decode.invoke(message)

        override fun grant(items: Long, bytes: Long) {}

        override fun dropped(count: Long) {
            options.onDrop?.accept(count)
        }

        override fun cancel() {
            if (open[channel] !== this) return
            open.remove(channel)
            // How it ends there is of no use to anybody here any more.
            calls.call(channel, codec.encodeCall(MethodCall("cancel", args)), CallOptions.NONE) { _, _ -> }
        }

        fun end(error: Throwable?) {
            if (open[channel] === this) open.remove(channel)
            stream.ended(missed, error)
        }

        fun keep(message: Received) {
            if (stream.waiting >= capacity) {
                if (options.whenFull == WhenFull.DROP_NEWEST) {
                    missed++
                    return
                }
                if (options.whenFull != WhenFull.DROP_OLDEST) {
                    cancel()
                    val what = "$channel: the reader is $capacity events behind"
                    return stream.fail(ChannelException(ChannelError.QUEUE_FULL, what))
                }
                stream.dropOldest()
            }
            stream.arrived(message, 0, missed)
            missed = 0
        }

        fun begin(message: ByteArray) {
            calls.call(channel, message, CallOptions.NONE) { answer, failure ->
                val refused = failure ?: answer?.let(::refusal)
                if (refused != null) link.lock.locked { if (open[channel] === this) end(refused) }
            }
        }

        private fun refusal(answer: Received): Throwable? =
            try {
                decode(answer)
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
        val message = codec.encodeCall(MethodCall("listen", args))
        return link.lock.locked {
            val listen = Subscription(channel, codec, args, options, decode)
            if (link.over) listen.stream.fail(link.closedError("events of $channel"))
            else {
                // The other end cancels the first by itself when it hears of the second.
                open[channel]?.end(replaced(channel))
                open[channel] = listen
                listen.begin(message)
            }
            listen.stream
        }
    }

    /** Passes a message to its channel's stream. Returns false when there is none. */
    fun message(channel: String, message: Received): Boolean {
        val listen = open[channel] ?: return false
        if (message.body.hasRemaining()) listen.keep(message) else listen.end(null)
        return true
    }

    /** The transport is closed. */
    fun closed() {
        for (listen in open.values.toList()) listen.end(link.closedError("events of ${listen.channel}"))
    }

    private companion object {
        /** Events kept before the policy applies: without credit, the other end sends as fast as it likes. */
        const val CAPACITY = 1024
    }
}
