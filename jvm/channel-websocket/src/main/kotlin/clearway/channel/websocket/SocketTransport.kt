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

/** Frames as binary messages of one socket, which may still connect. */
internal class SocketTransport(private val limits: TransportLimits) : ChannelTransport {
    private sealed class Out {
        class Frame(val bytes: ByteArray) : Out()

        class Text(val text: String) : Out()

        class Close(val status: Int, val text: String) : Out()
    }

    private val lock = Any()
    /** Held during calls of the sink. */
    private val telling = Any()
    private var sink: ChannelSink? = null
    private var socket: Socket? = null
    private val queue = ArrayDeque<Out>()
    private var queuedBytes = 0L
    private var sending = false
    private val windowBytes = limits.windowBytes.toLong()
    private val window = MarkedWindow(windowBytes)
    /** Where the other end is not ours there is only what waits here to go by. */
    private var queueFull = false
    /** Frames and marks that arrived before the sink, while it was paused, or while another one is delivered. */
    private val inbox = ArrayDeque<Any>()
    private var inboxBytes = 0L
    /** Whether a thread delivers what is in [inbox]. */
    private var delivering = false
    private var paused = false
    /** Whether the socket was asked for a message that has not arrived yet. */
    private var asked = false
    private var received = 0L
    /** Total of the last mark that arrived. A mark that repeats it is a protocol error. */
    private var marked = 0L
    /** A mark whose answer waits to leave, or -1. An answer includes the earlier ones, so that they cannot pile up. */
    private var owed = -1L
    private val assembler = MessageAssembler(limits.frameBytesMax)
    /** Why it is over, or will be. */
    private var end: CloseReason? = null
    /** Closed at this end: nothing is delivered any more. */
    private var deaf = false
    private var over = false
    private var told = false

    /** Done when the socket is open. */
    val opening = CompletableFuture<Unit>()

    override val name: String
        get() = "websocket"

    override val frameBytesMax: Int
        get() = limits.frameBytesMax

    /** Whether the socket is read: a pong is noticed. */
    val isRead: Boolean
        get() = synchronized(lock) { sink != null && asked }

    private val marks: Boolean
        get() = socket?.isOurs ?: true

    override fun open(sink: ChannelSink) {
        synchronized(lock) {
            check(this.sink == null) { "sink must be given once: open() was called before" }
            this.sink = sink
        }
        // On another thread: what comes is never told from within.
        DeliveryThreads.execute(::deliver)
    }

    override fun pause() {
        synchronized(lock) { paused = !over }
    }

    override fun resume() {
        synchronized(lock) { paused = false }
        DeliveryThreads.execute(::deliver)
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
        synchronized(lock) {
            if (end != null) return
            end = reason
            deaf = true
            inbox.clear()
            queue.add(Out.Close(closeStatus(reason.code), closeText(reason.message)))
        }
        pump()
        demand()
        // The other end's answer is read; one that does not come does not hold up the end for ever.
        CompletableFuture.delayedExecutor(CLOSE_SECONDS, TimeUnit.SECONDS, DeliveryThreads).execute { abort(reason) }
    }

    /** Ends the connection without waiting for the other end, which does not answer. */
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
        demand()
        pump()
    }

    /** A binary message, or a part of one. Asks for the next itself. */
    fun binary(part: java.nio.ByteBuffer, last: Boolean) {
        val listens = arrived()
        if (listens && !assembler.add(part)) {
            close(CloseReason(CloseCode.TOO_LARGE, "a frame over ${limits.frameBytesMax} bytes arrived"))
        } else if (listens && last) keep(assembler.take())
        demand()
    }

    /** A text message, or a part of one. Asks for the next itself. */
    fun text(part: String, last: Boolean) {
        if (arrived()) {
            if (!assembler.addText(part)) stray(assembler.takeText())
            else if (last) {
                val text = assembler.takeText()
                // Such a mark makes room for waiting frames: it is read also while the sink is paused.
                if (readMark(text)?.word == "taken") control(text) else keep(text)
            }
        }
        demand()
    }

    /** Something has arrived that was asked for. Returns whether it is read. */
    private fun arrived(): Boolean =
        synchronized(lock) {
            asked = false
            !deaf
        }

    private fun keep(message: Any) {
        synchronized(lock) {
            inbox.add(message)
            inboxBytes += weight(message)
        }
        deliver()
    }

    /** Delivers what has arrived, in order, on one thread at a time. */
    private fun deliver() {
        synchronized(lock) {
            if (delivering) return
            delivering = true
        }
        while (true) {
            val next =
                synchronized(lock) {
                    val first = if (sink == null || paused || deaf) null else inbox.poll()
                    if (first == null) delivering = false else inboxBytes -= weight(first)
                    first
                } ?: break
            if (next is ByteArray) deliver(next) else control(next as String)
        }
        demand()
        tellEnd()
    }

    private fun deliver(frame: ByteArray) {
        // Counted first: an answer from within the sink may be followed by a mark at once.
        received += weight(frame)
        synchronized(telling) { if (!synchronized(lock) { deaf }) guarded { sink?.frame(frame) } }
    }

    /**
     * Asks the socket for the next message, unless too much waits here. Before the sink is there, one message waits;
     * while it is paused, what a sender with Clearway's window sends before that is full.
     */
    private fun demand() {
        val open =
            synchronized(lock) {
                val full = if (sink == null) inbox.isNotEmpty() else inboxBytes >= limits.frameBytesMax + windowBytes
                if (asked || over || (full && !deaf)) return
                asked = socket != null
                socket
            }
        open?.demand()
    }

    /** The socket is closed, with the other end's status. */
    fun closed(status: Int, text: String): Unit = ended(readStatus(status, text))

    /** The socket broke, or was never open. */
    fun ended(reason: CloseReason) {
        synchronized(lock) {
            if (end == null) end = reason
            over = true
            // No sender is left to hold back.
            paused = false
            queue.clear()
        }
        DeliveryThreads.execute(::deliver)
    }

    private fun control(text: String) {
        val mark = if (marks) readMark(text) else null
        if (mark != null && mark.word == "mark" && mark.total == received && mark.total > marked) {
            marked = mark.total
            synchronized(lock) { owed = mark.total }
            return pump()
        }
        val drained = if (mark?.word == "taken") synchronized(lock) { window.taken(mark.total) } else null
        if (drained == null) stray(text) else if (drained) tellDrained()
    }

    private fun stray(text: String): Unit =
        close(CloseReason(CloseCode.PROTOCOL, "text where bytes were expected: \"${text.take(EXCERPT)}\""))

    /** Sends what waits, one at a time. A loop, where sending is done at once: else it would call itself for each. */
    private fun pump() {
        while (true) {
            var open: Socket
            val next =
                synchronized(lock) {
                    open = socket ?: return
                    if (sending) return
                    // A foreign end knows no marks.
                    if (!open.isOurs) while (queue.peek() is Out.Text) queue.remove()
                    val first = answer() ?: queue.poll() ?: return
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
                // No callback will report this message as sent, and further messages wait for that.
                return abort(
                    CloseReason(CloseCode.FAILED, "sending failed: ${thrown.javaClass.name}", emptyMap(), thrown)
                )
            }
            if (state.compareAndSet(BEGUN, LATER)) return
        }
    }

    /** The answer to the last mark, if it has not left. In the lock. */
    private fun answer(): Out? {
        val total = owed
        owed = -1
        return if (total < 0) null else Out.Text("taken $total")
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
        if (drained) DeliveryThreads.execute(::tellDrained)
    }

    private fun tellDrained(): Unit = synchronized(telling) { if (!told) guarded { sink?.drained() } }

    private fun tellEnd() {
        val reason = synchronized(lock) { end.takeIf { over && !delivering && (deaf || inbox.isEmpty()) } } ?: return
        synchronized(telling) {
            val to = sink
            if (told || to == null) return
            told = true
            guarded { to.closed(reason) }
        }
    }

    private companion object {
        /** As long as the other languages wait. */
        const val CLOSE_SECONDS = 5L
        const val EXCERPT = 80

        // Of one sending: it is not known yet, is done before the call returned, or will be done later.
        const val BEGUN = 0
        const val DONE = 1
        const val LATER = 2
    }
}
