// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.WhenFull
import clearway.channel.codec.NOTHING
import clearway.channel.wire.Flag
import clearway.channel.wire.Frame
import clearway.channel.wire.Head
import clearway.channel.wire.Op
import clearway.channel.wire.Status

/** Supplies the parts that a channel's streams share: queue limits, encoding and the start of a source. */
internal interface Serving {
    val limits: QueueLimits

    fun encode(event: Any?): ByteArray

    /**
     * Starts a stream's code. Called under the lock, so it must only schedule that code. The code must call
     * [Source.sourceEnded] at its end.
     */
    fun begin(source: Source, args: Received)
}

/** A stream that the other end has requested but that has not begun, on Clearway's wire. */
internal class RequestedStream(
    private val publishers: Publishers,
    val id: Int,
    val channel: String,
    val args: Received,
    frame: Frame,
) {
    /** The credit that the listener has granted before the stream begins. */
    val granted = SendCredit().apply { grant(frame.a, frame.b) }
    private val capacity = frame.c
    private val policy = frame.flags ushr Flag.WHEN_FULL_SHIFT
    val request = Request.Stream(this)

    /**
     * Returns the limits that the listener requested. `own` supplies each limit that the listener did not set, and the
     * policy if it drops events and that of the listener does not: such a source may not expect a send to wait or fail.
     */
    fun limits(own: QueueLimits): QueueLimits {
        val asked = WhenFull.entries.getOrNull(policy - 1) ?: own.whenFull
        val stays = own.whenFull >= WhenFull.DROP_OLDEST && asked < WhenFull.DROP_OLDEST
        return QueueLimits(if (capacity > 0) capacity else own.capacity, if (stays) own.whenFull else asked)
    }

    fun refuse(status: Int): Unit = publishers.refuse(this, status)

    fun serve(serving: Serving): Unit = publishers.serve(this, serving)
}

/** The event streams that this end serves on Clearway's wire. The endpoint's lock guards this object. */
internal class Publishers(private val connection: Connection, private val replies: Replies) {
    /**
     * The requested streams that have not begun, by id. The other end may reuse the id of a refused stream. Entries are
     * therefore removed by id and stream.
     */
    private val requested = HashMap<Int, RequestedStream>()
    /** The streams that have begun, by id. */
    private val open = HashMap<Int, Source>()
    /**
     * The streams that have ended while their source still runs. Such a stream counts against `callsMax` until its
     * source has ended.
     */
    private val stopping = HashSet<Source>()

    val size: Int
        get() = open.size + requested.size

    /** Registers a stream that the other end requests. Returns null if the stream is refused. */
    fun request(frame: Frame, channel: String, args: Received): RequestedStream? {
        val id = frame.id
        if (requested.containsKey(id) || open.containsKey(id)) {
            connection.broken("two streams of number $id")
            return null
        }
        val stream = RequestedStream(this, id, channel, args, frame)
        requested[id] = stream
        if (size + stopping.size <= connection.settings.callsMax) return stream
        stream.refuse(Status.BUSY)
        return null
    }

    fun serve(stream: RequestedStream, serving: Serving) {
        val id = stream.id
        if (!requested.remove(id, stream)) return
        val wire =
            object : SourceWire {
                override fun encode(event: Any?) = serving.encode(event)

                override fun event(message: ByteArray, dropped: Long) =
                    connection.send(Head(Op.EVENT, id = id, a = dropped), body = message)

                override fun error(thrown: Throwable) =
                    connection.errorBody(connection.redacted(thrown, stream.channel))

                override fun end(status: Int, error: ByteArray, dropped: Long) {
                    replies.send(Head(Op.END, id = id, a = status.toLong(), b = dropped), error) {}
                }
            }
        val source =
            Source(connection, stream.channel, stream.limits(serving.limits), wire) { ended ->
                open.remove(id)
                if (ended.running) stopping.add(ended)
            }
        source.onSourceEnded = { stopping.remove(source) }
        source.queue.credit.grant(stream.granted)
        open[id] = source
        serving.begin(source, stream.args)
    }

    fun refuse(stream: RequestedStream, status: Int) {
        if (requested.remove(stream.id, stream))
            replies.send(Head(Op.END, id = stream.id, a = status.toLong()), NOTHING) {}
    }

    fun credit(frame: Frame) {
        val source = open[frame.id]
        if (source == null) requested[frame.id]?.granted?.grant(frame.a, frame.b)
        else {
            source.queue.credit.grant(frame.a, frame.b)
            source.drain()
        }
    }

    /** Ends a stream, because its listener has cancelled it. Returns the stream if it has not begun. */
    fun cancel(id: Int): RequestedStream? {
        open[id]?.cancel()
        return requested.remove(id)
    }

    /** Sends waiting events, because the transport has room again. */
    fun drain() {
        for (source in open.values.toList()) source.drain()
    }

    /**
     * Ends all streams that have begun. If `status` is not null, sends it to the listeners. If it is null, also drops
     * the requested streams.
     */
    fun closed(status: Int?) {
        if (status == null) requested.clear()
        for (source in open.values.toList()) source.cancel(status)
    }
}
