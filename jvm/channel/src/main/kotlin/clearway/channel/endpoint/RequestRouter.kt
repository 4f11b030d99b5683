// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.channel.wire.Status
import java.util.ArrayDeque

/** A request of the other end: a call, a post or a stream. */
internal sealed class Asked {
    abstract val channel: String

    class Request(val served: Served) : Asked() {
        override val channel: String
            get() = served.channel
    }

    class Stream(val stream: AskedStream) : Asked() {
        override val channel: String
            get() = stream.channel
    }

    fun refuse(status: Int) {
        when (this) {
            is Request -> served.answer(status)
            is Stream -> stream.refuse(status)
        }
    }
}

/**
 * Serves the requests of a channel. The router calls the methods under the lock, so they must only schedule work and
 * must not throw.
 */
internal interface Handler {
    /** Starts the code for a call or a post. The handler calls [Served.ended] when that code has ended. */
    fun request(served: Served)

    fun listen(asked: AskedStream) {
        asked.refuse(Status.NOT_IMPLEMENTED)
    }
}

/**
 * Passes the other end's requests to the handler of their channel. Keeps requests that arrive before the channel has a
 * handler.
 */
internal class RequestRouter(private val link: Link, private val replies: Replies) : ServedOwner {
    private class Held(val asked: Asked, val bytes: Int)

    private val settings = link.settings
    private val handlers = HashMap<String, Handler>()
    private val early = Early<Asked>(settings.early, settings.earlyBytesMax.toLong(), settings.earlyMs)
    /** The calls without an answer, by id. Their handlers run or wait to run. */
    private val open = HashMap<Int, Asked.Request>()
    /** The posts that have not settled. A post has no id, because no caller waits for it. */
    private val posts = HashSet<Served>()
    /**
     * The calls and posts that count against `callsMax`. A request counts until its handler has ended and its answer
     * was sent, even if the caller has cancelled it.
     */
    private val places = HashSet<Served>()
    /** The requests that arrived while [Replies.full] was true, in order of arrival. */
    private val held = ArrayDeque<Held>()
    private var heldBytes = 0L
    private var timer: Timer? = null
    private val idle = ArrayList<() -> Unit>()

    /** The number of calls and posts that count against `callsMax`. */
    val size: Int
        get() = places.size

    /**
     * Registers a channel's handler and passes it the requests that arrived before it. Closing the result removes the
     * handler. Throws IllegalArgumentException if the channel has a handler. Any thread may call this function.
     */
    fun handle(name: String, handler: Handler): AutoCloseable =
        link.lock.locked {
            require(name !in handlers) { "channel must be handled once: channel=$name" }
            handlers[name] = handler
            for (asked in early.take(name)) hand(handler, asked)
            AutoCloseable { link.lock.locked { if (handlers[name] === handler) handlers.remove(name) } }
        }

    fun request(served: Served) {
        if (served.wanted && open.containsKey(served.id)) return link.broken("two calls of number ${served.id}")
        val asked = Asked.Request(served)
        val room = places.size < settings.callsMax
        if (room) places.add(served)
        if (served.wanted) open[served.id] = asked else posts.add(served)
        if (!room) return served.answer(Status.BUSY)
        admit(asked, served.message.body.remaining())
    }

    fun listen(asked: AskedStream, bytes: Int): Unit = admit(asked.asked, bytes)

    /** Cancels a call that its caller has given up. */
    fun cancel(id: Int, status: Long) {
        val asked = open[id] ?: return
        withdraw(asked)
        val error = if (status == Status.TIMEOUT.toLong()) ChannelError.TIMEOUT else ChannelError.CANCELLED
        asked.served.cancel(ChannelException(error, "the caller has cancelled"))
    }

    /** Removes a stream that waits for its handler, because the listener has cancelled it. */
    fun withdraw(asked: AskedStream) {
        withdraw(asked.asked)
    }

    private fun withdraw(asked: Asked) {
        val waits = held.firstOrNull { it.asked === asked } ?: return early.remove(asked.channel, asked)
        held.remove(waits)
        heldBytes -= waits.bytes
    }

    /**
     * Sets how many early messages (messages that arrive before the handler) of a channel are kept. Drops the oldest
     * messages above that number.
     */
    fun resize(name: String, count: Int): Unit =
        link.lock.locked { for (asked in early.resize(name, count)) asked.refuse(Status.DROPPED) }

    override fun settled(served: Served) {
        if (served.wanted) open.remove(served.id) else posts.remove(served)
        look()
    }

    override fun reply(op: Int, flags: Int, id: Int, status: Long, body: ByteArray, gone: () -> Unit): Unit =
        replies.send(op, flags, id, status, 0, body, gone)

    override fun left(served: Served) {
        places.remove(served)
        look()
    }

    /** Runs `act` when all requests are answered and all answers are sent. `act` runs after the lock is released. */
    fun whenIdle(act: () -> Unit) {
        idle.add(act)
        look()
    }

    /** Refuses the requests that wait for a handler, because the endpoint is closing. */
    fun refuseEarly(): Unit = expire(Long.MAX_VALUE)

    /** Cancels all requests, because the transport has closed. */
    fun closed() {
        timer?.stop()
        early.expire(Long.MAX_VALUE)
        held.clear()
        replies.clear()
        for (served in open.values.map { it.served } + posts) served.cancel(
            link.closedError("call of ${served.channel}")
        )
        places.clear()
        handlers.clear()
    }

    private fun look() {
        if (open.size + posts.size + replies.size > 0) return
        for (each in idle) link.lock.defer(each)
        idle.clear()
    }

    // Passes a request on, or holds it back while [Replies.full] is true.
    private fun admit(asked: Asked, bytes: Int) {
        if (held.isEmpty() && !replies.full) return take(asked, bytes)
        replies.weigh()
        if (heldBytes >= settings.replyBytesMax) return asked.refuse(Status.BUSY)
        held.add(Held(asked, bytes))
        heldBytes += bytes
    }

    /** Passes on the requests that were held back, until [Replies.full] is true again. */
    fun release() {
        while (!replies.full) {
            val next = held.poll() ?: return
            heldBytes -= next.bytes
            take(next.asked, next.bytes)
        }
    }

    /** Sends waiting answers. The owner calls this function when the transport has room again. */
    fun drain() {
        replies.drain()
        look()
    }

    private fun take(asked: Asked, bytes: Int) {
        val handler = handlers[asked.channel]
        if (handler != null) return hand(handler, asked)
        if (settings.earlyMs == 0L || link.closing) return asked.refuse(Status.NO_HANDLER)
        // The extra weight counts the memory of a message without a body.
        for (gone in early.add(asked.channel, asked, bytes + WEIGHT, settings.clock.nowMs())) gone.refuse(
            Status.DROPPED
        )
        wind()
    }

    private fun hand(handler: Handler, asked: Asked) {
        when (asked) {
            is Asked.Request ->
                if (!asked.served.settled)
                    try {
                        asked.served.start()
                        handler.request(asked.served)
                    } catch (thrown: Throwable) {
                        link.lock.defer { asked.served.fail(thrown) }
                        asked.served.ended()
                    }
            is Asked.Stream -> handler.listen(asked.stream)
        }
    }

    private fun wind() {
        val next = early.nextMs ?: return
        if (timer != null) return
        timer =
            settings.clock.after(maxOf(next - settings.clock.nowMs(), 1)) {
                link.lock.locked {
                    timer = null
                    expire(settings.clock.nowMs())
                    wind()
                }
            }
    }

    private fun expire(nowMs: Long) {
        for (asked in early.expire(nowMs)) asked.refuse(Status.NO_HANDLER)
    }

    private companion object {
        const val WEIGHT = 64L
    }
}
