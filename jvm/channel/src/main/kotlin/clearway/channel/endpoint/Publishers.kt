// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.WhenFull
import clearway.channel.codec.NOTHING
import clearway.channel.wire.Flag
import clearway.channel.wire.Frame
import clearway.channel.wire.Op
import clearway.channel.wire.Status

/** Serves a channel's events: queue limits, encoding, and the start of a stream. */
internal interface Serving {
    val limits: QueueLimits

    fun encode(event: Any?): ByteArray

    /** Under the lock: it only hands on. [Source.left] is called when nothing runs for the stream any more. */
    fun begin(source: Source, args: Received)
}

/** A stream that the other end asked for, on Clearway's wire. */
internal class AskedStream(
    private val publishers: Publishers,
    val id: Int,
    val channel: String,
    val args: Received,
    frame: Frame,
) {
    /** Credit granted before the stream began. */
    val granted = SendCredit().apply { grant(frame.a, frame.b) }
    private val capacity = frame.c
    private val policy = frame.flags ushr Flag.WHEN_FULL_SHIFT
    val asked = Asked.Stream(this)

    /** The listener's limits; where it sets none, this end's. */
    fun limits(own: QueueLimits): QueueLimits =
        QueueLimits(
            if (capacity > 0) capacity else own.capacity,
            WhenFull.entries.getOrNull(policy - 1) ?: own.whenFull,
        )

    fun refuse(status: Int): Unit = publishers.refuse(this, status)

    fun serve(serving: Serving): Unit = publishers.serve(this, serving)
}

/** Streams of events that this end serves, on Clearway's wire. Guarded by its endpoint's lock. */
internal class Publishers(private val link: Link, private val replies: Replies) {
    /**
     * By id: asked for and not begun, or begun. The number of a refused stream may be another's before its handler
     * comes.
     */
    private val asked = HashMap<Int, AskedStream>()
    private val open = HashMap<Int, Source>()
    /** Streams without a listener whose source still runs. They occupy a place until it ends. */
    private val leaving = HashSet<Source>()

    val size: Int
        get() = open.size + asked.size

    /** The other end listens. Null where it may not. */
    fun ask(frame: Frame, channel: String, args: Received): AskedStream? {
        val id = frame.id
        if (asked.containsKey(id) || open.containsKey(id)) {
            link.broken("two streams of number $id")
            return null
        }
        replace(channel)
        // Too many ends may wait: then this end has closed.
        if (link.reason != null) return null
        val stream = AskedStream(this, id, channel, args, frame)
        asked[id] = stream
        if (size + leaving.size <= link.settings.callsMax) return stream
        stream.refuse(Status.BUSY)
        return null
    }

    fun serve(stream: AskedStream, serving: Serving) {
        val id = stream.id
        if (!asked.remove(id, stream)) return
        val wire =
            object : SourceWire {
                override fun encode(event: Any?) = serving.encode(event)

                override fun event(message: ByteArray, dropped: Long) =
                    link.send(Op.EVENT, id = id, a = dropped, body = message)

                override fun error(thrown: Throwable) = link.errorBody(link.redacted(thrown, stream.channel))

                override fun end(status: Int, error: ByteArray, dropped: Long) {
                    replies.send(Op.END, 0, id, status.toLong(), dropped, error) {}
                }
            }
        val source =
            Source(link, stream.channel, stream.limits(serving.limits), wire) { ended ->
                open.remove(id)
                if (ended.running) leaving.add(ended)
            }
        source.onLeft = { leaving.remove(source) }
        source.queue.credit.grant(stream.granted)
        open[id] = source
        serving.begin(source, stream.args)
    }

    fun refuse(stream: AskedStream, status: Int) {
        if (asked.remove(stream.id, stream)) replies.send(Op.END, 0, stream.id, status.toLong(), 0, NOTHING) {}
    }

    fun credit(frame: Frame) {
        val source = open[frame.id]
        if (source == null) asked[frame.id]?.granted?.grant(frame.a, frame.b)
        else {
            source.queue.credit.grant(frame.a, frame.b)
            source.drain()
        }
    }

    /** The listener has cancelled. Returns the stream that has not begun yet, if it is one. */
    fun cancel(id: Int): AskedStream? {
        open[id]?.cancel()
        return asked.remove(id)
    }

    /** The transport has room again. */
    fun drain() {
        for (source in open.values.toList()) source.drain()
    }

    /** Ends those that run; `status` tells their listeners. */
    fun closed(status: Int?) {
        if (status == null) asked.clear()
        for (source in open.values.toList()) source.cancel(status)
    }

    // A second listen of a channel ends the first: spec/wire.md.
    private fun replace(channel: String) {
        val running = open.values.firstOrNull { it.channel == channel }
        if (running != null) return running.cancel(Status.CANCELLED)
        asked.values.firstOrNull { it.channel == channel }?.refuse(Status.CANCELLED)
    }
}
