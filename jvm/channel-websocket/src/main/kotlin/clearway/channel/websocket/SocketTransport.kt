// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.transport.ChannelSink
import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason
import clearway.channel.transport.TransportLimits
import java.util.ArrayDeque
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

/** A transport that sends each frame as a binary message of one socket. The socket may still be connecting. */
internal class SocketTransport(private val limits: TransportLimits) : ChannelTransport {
    private sealed class Out {
        class Frame(val bytes: ByteArray) : Out()

        class Text(val text: String) : Out()

        class Close(val status: Int, val text: String) : Out()
    }

    private val lock = Any()
    /** Held during calls of the sink, so that they do not overlap. */
    private val telling = Any()
    private var sink: ChannelSink? = null
    private var socket: Socket? = null
    private val queue = ArrayDeque<Out>()
    private var queuedBytes = 0L
    private var sending = false
    private val window = MarkedWindow(limits.windowBytes.toLong())
    /** Whether the frames queued here fill the window. Used for a foreign peer, which does not echo marks. */
    private var queueFull = false
    /**
     * The frame that arrived before `open`. While it waits, nothing more is requested, so a close is not noticed
     * either.
     */
    private var early: ByteArray? = null
    private var received = 0L
    private val parts = Parts(limits.frameBytesMax)
    /** Why the transport has ended or is ending. */
    private var end: CloseReason? = null
    private var over = false
    private var told = false

    /** Completes when the socket is open. */
    val opening = CompletableFuture<Unit>()

    override val name: String
        get() = "websocket"

    override val frameBytesMax: Int
        get() = limits.frameBytesMax

    /** Whether a sink is open. */
    val isRead: Boolean
        get() = synchronized(lock) { sink != null }

    private val marks: Boolean
        get() = socket?.isOurs ?: true

    override fun open(sink: ChannelSink) {
        synchronized(lock) {
            check(this.sink == null) { "sink must be given once: open() was called before" }
            this.sink = sink
        }
        // On another thread: `open` never calls the sink before it returns.
        Tellers.execute {
            val first = synchronized(lock) { early.also { early = null } }
            if (first != null) {
                deliver(first)
                socket?.demand()
            }
            tellEnd()
        }
    }

    override fun send(frame: ByteArray): Boolean {
        limits.check(frame)
        val room =
            synchronized(lock) {
                if (end != null) return false
                queue.add(Out.Frame(frame))
                queuedBytes += weight(frame)
                if (queuedBytes >= limits.windowBytes) queueFull = true
                val mark = window.sent(weight(frame))
                if (mark >= 0) queue.add(Out.Text("mark $mark"))
                if (marks) !window.full else !queueFull
            }
        pump()
        return room
    }

    override fun close(reason: CloseReason) {
        val held =
            synchronized(lock) {
                if (end != null) return
                end = reason
                queue.add(Out.Close(closeStatus(reason.code), closeText(reason.message)))
                (early != null).also { early = null }
            }
        pump()
        if (held) socket?.demand()
        // The peer's close is read, too. A peer that does not answer delays the end by 5 s at most.
        CompletableFuture.delayedExecutor(CLOSE_SECONDS, TimeUnit.SECONDS, Tellers).execute { abort(reason) }
    }

    /** Ends the transport without a closing handshake, for example because the peer does not respond. */
    fun abort(reason: CloseReason) {
        val open =
            synchronized(lock) {
                if (over) return
                socket
            }
        guarded { open?.abort() }
        ended(reason)
    }

    /** The socket is open. */
    fun opened(open: Socket) {
        val late =
            synchronized(lock) {
                socket = open
                over
            }
        if (late) return open.abort()
        opening.complete(Unit)
        open.demand()
        pump()
    }

    /** Handles a binary message or a part of it, and requests the next. */
    fun binary(part: java.nio.ByteBuffer, last: Boolean) {
        val deaf = synchronized(lock) { end != null }
        if (!deaf && !parts.add(part)) {
            close(CloseReason(CloseCode.TOO_LARGE, "a frame over ${limits.frameBytesMax} bytes arrived"))
        } else if (!deaf && last) {
            val frame = parts.take()
            val held =
                synchronized(lock) {
                    if (sink == null) early = frame
                    sink == null
                }
            // Requests nothing more until a sink is open.
            if (held) return
            deliver(frame)
        }
        socket?.demand()
    }

    private fun deliver(frame: ByteArray) {
        // Counts before the call: the sink may reply, and the peer's mark may arrive, during the call.
        received += weight(frame)
        synchronized(telling) { if (synchronized(lock) { end } == null) guarded { sink?.frame(frame) } }
    }

    /** Handles a text message or a part of it. */
    fun text(part: String, last: Boolean) {
        if (synchronized(lock) { end } == null) {
            if (!parts.addText(part)) stray(parts.takeText()) else if (last) control(parts.takeText())
        }
        socket?.demand()
    }

    /** The socket was closed, with the peer's status. */
    fun closed(status: Int, text: String): Unit = ended(readStatus(status, text))

    /** The connection broke or was never open. */
    fun ended(reason: CloseReason) {
        synchronized(lock) {
            if (end == null) end = reason
            over = true
            queue.clear()
        }
        Tellers.execute(::tellEnd)
    }

    private fun control(text: String) {
        val mark = if (marks) readMark(text) else null
        if (mark != null && mark.word == "mark" && mark.total == received) {
            synchronized(lock) { queue.add(Out.Text("taken ${mark.total}")) }
            return pump()
        }
        val drained = if (mark?.word == "taken") synchronized(lock) { window.taken(mark.total) } else null
        if (drained == null) stray(text) else if (drained) tellDrained()
    }

    private fun stray(text: String): Unit =
        close(CloseReason(CloseCode.PROTOCOL, "text where bytes were expected: \"${text.take(EXCERPT)}\""))

    /**
     * Sends the queued messages, one at a time. A loop, because a socket may complete each send at once; recursion
     * could then overflow the stack.
     */
    private fun pump() {
        while (true) {
            var open: Socket
            val next =
                synchronized(lock) {
                    open = socket ?: return
                    if (sending) return
                    // A foreign peer does not understand marks.
                    if (!open.isOurs) while (queue.peek() is Out.Text) queue.remove()
                    val first = queue.poll() ?: return
                    sending = true
                    first
                }
            val state = AtomicInteger(BEGUN)
            val sent = {
                left(next)
                if (!state.compareAndSet(BEGUN, DONE)) pump()
            }
            try {
                when (next) {
                    is Out.Frame -> open.binary(next.bytes, sent)
                    is Out.Text -> open.text(next.text, sent)
                    is Out.Close -> open.close(next.status, next.text, sent)
                }
            } catch (thrown: Throwable) {
                // `sent` will not be called, and no other message may leave before it.
                return abort(
                    CloseReason(CloseCode.FAILED, "sending failed: ${thrown.javaClass.name}", emptyMap(), thrown)
                )
            }
            if (state.compareAndSet(BEGUN, LATER)) return
        }
    }

    private fun left(out: Out) {
        val drained =
            synchronized(lock) {
                sending = false
                if (out is Out.Frame) queuedBytes -= weight(out.bytes)
                val now = queueFull && queuedBytes * 2 <= limits.windowBytes
                if (now) queueFull = false
                now && !marks && end == null
            }
        if (drained) Tellers.execute(::tellDrained)
    }

    private fun tellDrained(): Unit = synchronized(telling) { if (!told) guarded { sink?.drained() } }

    private fun tellEnd() {
        val reason = synchronized(lock) { end.takeIf { over && early == null } } ?: return
        synchronized(telling) {
            val to = sink
            if (told || to == null) return
            told = true
            guarded { to.closed(reason) }
        }
    }

    private companion object {
        /** The same time as in the other languages. */
        const val CLOSE_SECONDS = 5L
        const val EXCERPT = 80

        // State of a send: unknown yet, complete before the call returned, or completed later by `sent`.
        const val BEGUN = 0
        const val DONE = 1
        const val LATER = 2
    }
}
