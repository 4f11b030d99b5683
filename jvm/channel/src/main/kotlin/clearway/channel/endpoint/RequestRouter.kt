// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.channel.wire.Head
import clearway.channel.wire.Status
import java.util.ArrayDeque

/** A request of the other end: a call, a post or a stream. */
internal sealed class Request {
    abstract val channel: String

    class CallOrPost(val served: Served) : Request() {
        override val channel: String
            get() = served.channel
    }

    class Stream(val stream: RequestedStream) : Request() {
        override val channel: String
            get() = stream.channel
    }

    fun refuse(status: Int) {
        when (this) {
            is CallOrPost -> served.answer(status)
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

    fun listen(stream: RequestedStream) {
        stream.refuse(Status.NOT_IMPLEMENTED)
    }
}

/**
 * Passes the other end's requests to the handler of their channel. Keeps requests that arrive before the channel has a
 * handler.
 */
internal class RequestRouter(private val connection: Connection, private val replies: Replies) : ServedOwner {
    private class HeldRequest(val request: Request, val message: Received, val bytes: Long)

    private val settings = connection.settings
    private val handlers = HashMap<String, Handler>()
    private val early = Early<Request>(settings.early, settings.earlyBytesMax.toLong(), settings.earlyMs)
    /** The calls without an answer, by id. Their handlers run or wait to run. */
    private val open = HashMap<Int, Request.CallOrPost>()
    /** The posts that have not settled. A post has no id, because no caller waits for it. */
    private val posts = HashSet<Served>()
    /**
     * The calls and posts that count against `callsMax`. A request counts until its handler has ended and its answer
     * was sent, even if the caller has cancelled it.
     */
    private val counted = HashSet<Served>()
    /** The requests that arrived while [Replies.full] was true, in order of arrival. */
    private val held = ArrayDeque<HeldRequest>()
    private var heldBytes = 0L
    /**
     * The channels of which a dropped post was reported. Another one is reported after a request of the channel has run
     * while no other did, so that a flood of posts is not a flood of errors.
     */
    private val dropping = HashSet<String>()
    private var finishing = false
    private var timer: Timer? = null
    private val idle = ArrayList<() -> Unit>()

    /** The number of calls and posts that count against `callsMax`. */
    val size: Int
        get() = counted.size

    /**
     * Registers a channel's handler and passes it the requests that arrived before it. Closing the result removes the
     * handler. Throws IllegalArgumentException if the channel has a handler. Any thread may call this function.
     */
    fun handle(name: String, handler: Handler): AutoCloseable =
        connection.lock.locked {
            require(name !in handlers) { "channel must be handled once: channel=$name" }
            handlers[name] = handler
            for (request in early.take(name)) dispatch(handler, request)
            AutoCloseable { connection.lock.locked { if (handlers[name] === handler) handlers.remove(name) } }
        }

    fun request(served: Served) {
        if (served.wanted && open.containsKey(served.id)) return connection.broken("two calls of number ${served.id}")
        val request = Request.CallOrPost(served)
        val room = counted.size < settings.callsMax
        if (room) counted.add(served)
        if (served.wanted) open[served.id] = request else posts.add(served)
        if (!room) return refuse(request, Status.BUSY)
        admit(request, served.message)
    }

    fun listen(stream: RequestedStream): Unit = admit(stream.request, stream.args)

    /** Cancels a call that its caller has given up. */
    fun cancel(id: Int, status: Long) {
        val request = open[id] ?: return
        withdraw(request)
        val error = if (status == Status.TIMEOUT.toLong()) ChannelError.TIMEOUT else ChannelError.CANCELLED
        request.served.cancel(ChannelException(error, "the caller has cancelled"))
        checkIdle()
    }

    /** Removes a stream that waits for its handler, because the listener has cancelled it. */
    fun withdraw(stream: RequestedStream) {
        withdraw(stream.request)
    }

    private fun withdraw(request: Request) {
        val waits = held.firstOrNull { it.request === request } ?: return early.remove(request.channel, request)
        held.remove(waits)
        heldBytes -= waits.bytes
    }

    override fun settled(served: Served) {
        if (served.wanted) open.remove(served.id) else posts.remove(served)
    }

    override fun reply(op: Int, flags: Int, id: Int, status: Long, body: ByteArray, onSentOrDropped: () -> Unit) {
        replies.send(Head(op, flags, id, status), body, onSentOrDropped)
        checkIdle()
    }

    override fun finished(served: Served) {
        counted.remove(served)
        checkIdle()
    }

    /**
     * Refuses the calls that arrive from now on. Until the closing end's own calls are answered, it serves calls,
     * because the handlers of the other end may call back. Runs `act` when all requests are answered and all answers
     * are sent. `act` runs after the lock is released.
     */
    fun finish(act: () -> Unit) {
        finishing = true
        idle.add(act)
        checkIdle()
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
            connection.closedError("call of ${served.channel}")
        )
        counted.clear()
        handlers.clear()
    }

    private fun checkIdle() {
        if (open.size + posts.size + replies.size > 0) return
        for (each in idle) connection.lock.defer(each)
        idle.clear()
    }

    // Passes a request on, or holds it back while [Replies.full] is true.
    private fun admit(request: Request, message: Received) {
        if (held.isEmpty() && !replies.full) return route(request, message)
        replies.updatePause()
        if (heldBytes >= settings.replyBytesMax) return refuse(request, Status.BUSY)
        val bytes = message.keptBytes
        held.add(HeldRequest(request, message, bytes))
        heldBytes += bytes
    }

    /** Passes on the requests that were held back, until [Replies.full] is true again. */
    fun release() {
        while (!replies.full) {
            val next = held.poll() ?: return
            heldBytes -= next.bytes
            route(next.request, next.message)
        }
    }

    /** Sends waiting answers. The owner calls this function when the transport has room again. */
    fun drain() {
        replies.drain()
        checkIdle()
    }

    private fun route(request: Request, message: Received) {
        // The answer says that nothing has run.
        if (finishing || (connection.closing && request is Request.Stream)) return refuse(request, Status.NO_HANDLER)
        val handler = handlers[request.channel]
        if (handler != null) return dispatch(handler, request)
        if (settings.earlyMs == 0L || connection.closing) return refuse(request, Status.NO_HANDLER)
        val dropped = early.add(request.channel, request, message.keptBytes, settings.clock.nowMs())
        for (each in dropped) refuse(each, Status.DROPPED)
        startTimer()
    }

    private fun dispatch(handler: Handler, request: Request) {
        when (request) {
            is Request.CallOrPost ->
                if (!request.served.settled)
                    try {
                        if (counted.size < 2) dropping.remove(request.channel)
                        request.served.start()
                        handler.request(request.served)
                    } catch (thrown: Throwable) {
                        connection.lock.defer { request.served.fail(thrown) }
                        request.served.ended()
                    }
            is Request.Stream -> handler.listen(request.stream)
        }
    }

    /**
     * Refuses a request that has not run. The sender of a post receives no answer, so this end reports it. Not on the
     * plain wire, where a late event of a stream looks like a post.
     */
    private fun refuse(request: Request, status: Int) {
        val served = (request as? Request.CallOrPost)?.served
        val isPost = served != null && !served.wanted && !served.settled && !connection.isPlain
        request.refuse(status)
        if (!isPost || connection.closing || dropping.size >= DROPPING_MAX || !dropping.add(request.channel)) return
        val why = "a post to ${request.channel} was dropped, and others may be"
        val error = ChannelException(statusError(status.toLong(), request.channel).error, why)
        connection.lock.defer { settings.report(error, request.channel) }
    }

    private fun startTimer() {
        if (timer != null) return
        val next = early.nextMs ?: return
        timer =
            settings.clock.after(maxOf(next - settings.clock.nowMs(), 1)) {
                connection.lock.locked {
                    timer = null
                    expire(settings.clock.nowMs())
                    startTimer()
                }
            }
    }

    private fun expire(nowMs: Long) {
        for (request in early.expire(nowMs)) refuse(request, Status.NO_HANDLER)
    }

    private companion object {
        /** Maximum number of channels whose dropped posts are reported. The other end chooses the names. */
        const val DROPPING_MAX = 64
    }
}

/**
 * Keeps early messages, which arrive before their channel has a handler. The number of messages of each channel, the
 * bytes of all messages and the time are limited. This class does no I/O. Its methods return the entries that were
 * dropped or have expired, and the caller answers these messages.
 */
internal class Early<T : Any>(private val each: Int, private val bytesMax: Long, private val keptMs: Long) {
    private class Kept<T>(val entry: T, val bytes: Long, val untilMs: Long)

    /** The early messages of each channel that has some, oldest first. */
    private val buffers = LinkedHashMap<String, ArrayDeque<Kept<T>>>()
    private var bytes = 0L

    /**
     * Keeps an entry of `size` bytes. Returns the entries that were dropped: the oldest entries of the channel, the new
     * entry, or both.
     */
    fun add(name: String, entry: T, size: Long, nowMs: Long): List<T> {
        if (each == 0 || size > bytesMax) return listOf(entry)
        val buffer = buffers[name] ?: ArrayDeque()
        val dropped = ArrayList<T>()
        while (buffer.isNotEmpty() && (buffer.size >= each || bytes + size > bytesMax)) dropped.add(shift(buffer))
        // Messages of other channels are never dropped to make room.
        val fits = bytes + size <= bytesMax
        if (fits) {
            buffer.add(Kept(entry, size, nowMs + keptMs))
            bytes += size
        }
        if (buffer.isEmpty()) buffers.remove(name) else buffers[name] = buffer
        return if (fits) dropped else dropped + entry
    }

    /** Removes and returns all entries of a channel, oldest first. */
    fun take(name: String): List<T> {
        val buffer = buffers.remove(name) ?: return emptyList()
        return List(buffer.size) { shift(buffer) }
    }

    /** Removes an entry. Does nothing if the entry is not kept. */
    fun remove(name: String, entry: T) {
        val buffer = buffers[name] ?: return
        val kept = buffer.firstOrNull { it.entry === entry } ?: return
        buffer.remove(kept)
        bytes -= kept.bytes
        if (buffer.isEmpty()) buffers.remove(name)
    }

    /** Removes and returns the entries that have expired. */
    fun expire(nowMs: Long): List<T> {
        val expired = ArrayList<T>()
        for (buffer in buffers.values) while ((buffer.peek() ?: break).untilMs <= nowMs) expired.add(shift(buffer))
        buffers.values.removeIf { it.isEmpty() }
        return expired
    }

    /** The time at which the next entry expires; null if there is no entry. In milliseconds of the clock. */
    val nextMs: Long?
        get() = buffers.values.minOfOrNull { it.first.untilMs }

    private fun shift(buffer: ArrayDeque<Kept<T>>): T {
        val first = buffer.remove()
        bytes -= first.bytes
        return first.entry
    }
}
