// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.channel.EventStream
import clearway.channel.ListenOptions
import clearway.channel.codec.NOTHING
import clearway.channel.codec.OverLimit
import clearway.channel.transport.OBJECT_BYTES
import clearway.channel.wire.Flag
import clearway.channel.wire.Frame
import clearway.channel.wire.Head
import clearway.channel.wire.Op
import clearway.channel.wire.Status

/** The event streams that this end listens to on Clearway's wire. A second stream on a channel ends the first one. */
internal class Subscriptions(private val connection: Connection, private val outbox: Outbox) {
    private inner class Subscription<T>(
        val id: Int,
        val channel: String,
        val args: ByteArray,
        val options: ListenOptions,
        val decode: (Received) -> T,
    ) : QueuedRequest, ListenerOwner<T> {
        val stream = Listener(connection.lock, this, options.windowItems, options.windowBytes)

        override fun decode(message: Received): T = decode.invoke(message)

        /**
         * Maximum charge of the events that wait when another one arrives. Credit counts bytes only, and an event may
         * have thousands of empty attachments. Events whose attachments have 128 bytes or more never exceed it.
         */
        private val waitingBytesMax =
            2 * options.windowBytes + OBJECT_BYTES * options.windowItems + connection.settings.replyBytesMax

        val mayWait: Boolean
            get() = stream.waitingBytes <= waitingBytesMax

        /**
         * The credit that was granted and not sent. The source cannot use it, so it is at most the window and one
         * event.
         */
        private var unsentItems = 0L
        private var unsentBytes = 0L

        // A peer that sends events and reads nothing must not make one frame of credit wait for each of them.
        override fun grant(items: Long, bytes: Long) {
            unsentItems += items
            unsentBytes += bytes
            sendCredit()
        }

        /** Sends the credit that was granted, unless the transport has no room. */
        fun sendCredit() {
            if (unsentItems == 0L || connection.congested) return
            val credit = Head(Op.CREDIT, id = id, a = unsentItems, b = unsentBytes)
            stream.granted(unsentItems, unsentBytes)
            unsentItems = 0
            unsentBytes = 0
            // Last: a transport that breaks its contract may deliver events during this call.
            connection.send(credit)
        }

        override fun cancel() {
            if (open.remove(id) != null && !outbox.remove(this)) connection.send(Head(Op.STOP, id = id))
        }

        override fun dropped(count: Long) {
            options.onDrop?.accept(count)
        }

        override fun send() {
            val policy = options.whenFull?.let { it.ordinal + 1 } ?: 0
            connection.send(
                Head(
                    Op.LISTEN,
                    policy shl Flag.WHEN_FULL_SHIFT,
                    id,
                    options.windowItems,
                    options.windowBytes,
                    options.capacity,
                ),
                connection.name(channel),
                args,
            )
        }

        override fun refuse(reason: Throwable) {
            open.remove(id)
            stream.fail(reason)
        }
    }

    private val open = HashMap<Int, Subscription<*>>()
    private var last = 0

    val size: Int
        get() = open.size

    /**
     * Starts a stream with the arguments that `encode` returns. Throws the exceptions of `encode`, except [OverLimit].
     * All other errors are reported through the stream. Any thread may call this function.
     */
    fun <T> listen(
        channel: String,
        encode: () -> ByteArray,
        options: ListenOptions,
        decode: (Received) -> T,
    ): EventStream<T> {
        var tooLarge: Throwable? = null
        val args =
            try {
                encode()
            } catch (over: OverLimit) {
                tooLarge = connection.tooLarge(over)
                NOTHING
            }
        return connection.lock.locked {
            val listen = Subscription(nextId(), channel, args, options, decode)
            val refusal = tooLarge ?: refusal(channel)
            if (refusal != null) listen.stream.fail(refusal)
            else {
                open[listen.id] = listen
                outbox.push(listen)
            }
            listen.stream
        }
    }

    fun event(frame: Frame, message: Received) {
        val listen = open[frame.id] ?: return
        if (!listen.mayWait) connection.broken("events with too many small attachments: ${listen.channel}")
        else if (!listen.stream.arrived(message, message.bytes, frame.a))
            connection.broken("an event without credit: ${listen.channel}")
    }

    fun end(frame: Frame) {
        val listen = open.remove(frame.id) ?: return
        val isDone = frame.a == Status.DONE.toLong()
        listen.stream.ended(frame.b, if (isDone) null else failure(frame, listen.channel, connection.valuesMax))
    }

    /** Sends the credit that waits, because the transport has room again. */
    fun drain() {
        for (listen in open.values) listen.sendCredit()
    }

    /** Ends all streams, because the transport has closed. */
    fun closed() {
        for (listen in open.values) listen.stream.ended(0, connection.closedError("events of ${listen.channel}"))
        open.clear()
    }

    private fun refusal(channel: String): Throwable? {
        val callsMax = connection.settings.callsMax
        if (connection.over) return connection.closedError("events of $channel")
        if (open.size < callsMax) return null
        return ChannelException(ChannelError.QUEUE_FULL, "too many open streams: callsMax=$callsMax")
    }

    private fun nextId(): Int {
        do last++ while (last == 0 || open.containsKey(last))
        return last
    }
}

/**
 * Credit that never runs out. It is used if an end grants or needs no credit. A quarter of the largest Long leaves room
 * for additions without overflow.
 */
internal const val UNBOUNDED = Long.MAX_VALUE / 4

/**
 * The producer's credit: how many values and bytes it may still send. The producer may send a value while both numbers
 * are above zero. A value of any size can therefore be sent, and the number of bytes may become negative.
 */
internal class SendCredit {
    private var items = 0L
    private var bytes = 0L

    // Adds credit that the consumer granted. The maximum prevents a hostile peer from overflowing the numbers.
    fun grant(items: Long, bytes: Long) {
        this.items = minOf(this.items + items, UNBOUNDED)
        this.bytes = minOf(this.bytes + bytes, UNBOUNDED)
    }

    fun grant(other: SendCredit): Unit = grant(other.items, other.bytes)

    fun spend(bytes: Long) {
        items -= 1
        this.bytes -= bytes
    }

    val maySend: Boolean
        get() = items > 0 && bytes > 0
}

/**
 * The consumer's credit: the values and the bytes that were taken since the last grant. The consumer batches its
 * grants. It sends a grant when half of the window was taken, in values or in bytes.
 */
internal class ReceiveCredit(private val items: Long, private val bytes: Long) {
    private val out = SendCredit().apply { grant(items, bytes) }
    private var owedItems = 0L
    private var owedBytes = 0L

    /** Counts a value that arrived. Returns false, and counts nothing, if the producer had no credit for it. */
    fun arrived(bytes: Long): Boolean {
        if (!out.maySend) return false
        out.spend(bytes)
        return true
    }

    /**
     * Counts a value that the consumer took. Calls `grant` when half of the window was taken since the last grant. The
     * producer may use the grant once it is [sent].
     */
    inline fun taken(size: Long, grant: (items: Long, bytes: Long) -> Unit) {
        owedItems++
        owedBytes += size
        if (owedItems * 2 < items && owedBytes * 2 < bytes) return
        val dueItems = owedItems
        val dueBytes = owedBytes
        owedItems = 0
        owedBytes = 0
        grant(dueItems, dueBytes)
    }

    /** Counts credit that is sent to the producer now. */
    fun sent(items: Long, bytes: Long): Unit = out.grant(items, bytes)
}
