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
    /** Held during calls of the sink. Only one thread at a time calls it. */
    private val sinkLock = Any()
    private var sink: ChannelSink? = null
    private var socket: Socket? = null
    private val queue = ArrayDeque<Out>()
    private var queuedBytes = 0L
    private var sending = false
    private val windowBytes = limits.windowBytes.toLong()
    private val window = MarkedWindow(windowBytes)
    /**
     * Whether the frames in [queue] fill the window. Used if the peer is not a Clearway end, because such a peer does
     * not echo marks.
     */
    private var queueFull = false
    /**
     * The frames and marks that wait for delivery. They wait while the sink is not open, while the transport is paused,
     * and while another message is being delivered.
     */
    private val inbox = ArrayDeque<Any>()
    private var inboxBytes = 0L
    /** Whether a thread delivers the messages in [inbox]. */
    private var delivering = false
    private var paused = false
    /** Whether the transport has requested a message that has not arrived yet. */
    private var requested = false
    private var received = 0L
    /** The total of the last mark that arrived. A repeated mark is a protocol error. */
    private var marked = 0L
    /**
     * The total of a mark whose echo waits to be sent, or -1. An echo confirms all earlier marks too, so only one has
     * to wait.
     */
    private var pendingEcho = -1L
    private val assembler = MessageAssembler(limits.frameBytesMax)
    /** The reason why the transport has ended or is ending; null while it is open. */
    private var end: CloseReason? = null
    /** Whether this end has closed the transport. No more frames are delivered then. */
    private var closedHere = false
    /** Whether the socket has closed or failed. No more messages arrive then. */
    private var disconnected = false
    /** Whether the sink's `closed` was called. The sink receives no calls after it. */
    private var closedReported = false

    /** Completes when the socket is open. */
    val opening = CompletableFuture<Unit>()

    override val name: String
        get() = "websocket"

    override val frameBytesMax: Int
        get() = limits.frameBytesMax

    /** Whether the socket is being read, so that a pong can be noticed. */
    val isRead: Boolean
        get() = synchronized(lock) { sink != null && requested }

    /** Whether the connection has a message that has not left. */
    val isSending: Boolean
        get() = synchronized(lock) { sending }

    /** Whether the transport has ended or is ending. */
    val isOver: Boolean
        get() = synchronized(lock) { end != null }

    private val marks: Boolean
        get() = socket?.isOurs ?: true

    override fun open(sink: ChannelSink) {
        synchronized(lock) {
            check(this.sink == null) { "sink must be given once: open() was called before" }
            this.sink = sink
        }
        // Another thread delivers, because `open` must not call the sink.
        DeliveryThreads.execute(::deliver)
    }

    override fun pause() {
        synchronized(lock) { paused = !disconnected }
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
                queuedBytes += charge(frame)
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
            closedHere = true
            inbox.clear()
            queue.add(Out.Close(closeStatus(reason.code), closeText(reason.message)))
        }
        pump()
        demand()
        // The peer's close must be read, too. A peer that does not close in time delays the end by [CLOSE_SECONDS].
        SocketTimers.after(TimeUnit.SECONDS.toMillis(CLOSE_SECONDS)) { abort(reason) }
    }

    /** Ends the transport without a closing handshake, for example because the peer does not respond. */
    fun abort(reason: CloseReason) {
        val open =
            synchronized(lock) {
                if (disconnected) return
                // Before the socket can report its own end, which has another reason.
                if (end == null) end = reason
                socket
            }
        guarded { open?.abort() }
        ended(reason)
    }

    /** Called when the socket is open. */
    fun opened(open: Socket) {
        val late =
            synchronized(lock) {
                socket = open
                disconnected
            }
        if (late) return open.abort()
        opening.complete(Unit)
        demand()
        pump()
    }

    /** Handles a binary message, or a part of one, and requests the next. */
    fun binary(part: java.nio.ByteBuffer, last: Boolean) {
        val listens = arrived()
        if (listens && !assembler.add(part)) {
            close(CloseReason(CloseCode.TOO_LARGE, "a frame over ${limits.frameBytesMax} bytes arrived"))
        } else if (listens && last) keep(assembler.take())
        demand()
    }

    /** Handles a text message, or a part of one, and requests the next. */
    fun text(part: String, last: Boolean) {
        if (arrived()) {
            if (!assembler.addText(part)) stray(assembler.takeText())
            else if (last) {
                val text = assembler.takeText()
                // An echoed mark makes room for waiting frames, so it is handled even while the sink is paused.
                if (readMark(text)?.kind == "taken") control(text) else keep(text)
            }
        }
        demand()
    }

    /** Records that a requested message arrived. Returns false if this end has closed and ignores the message. */
    private fun arrived(): Boolean =
        synchronized(lock) {
            requested = false
            !closedHere
        }

    private fun keep(message: Any) {
        synchronized(lock) {
            inbox.add(message)
            inboxBytes += charge(message)
        }
        deliver()
    }

    /** Delivers the messages that have arrived, in order. Only one thread at a time delivers. */
    private fun deliver() {
        synchronized(lock) {
            if (delivering) return
            delivering = true
        }
        while (true) {
            val next =
                synchronized(lock) {
                    val first = if (sink == null || paused || closedHere) null else inbox.poll()
                    if (first == null) delivering = false else inboxBytes -= charge(first)
                    first
                } ?: break
            if (next is ByteArray) deliver(next) else control(next as String)
        }
        demand()
        reportClosed()
    }

    private fun deliver(frame: ByteArray) {
        // The count changes before the call of the sink. During the call, the sink may reply and the peer's next mark
        // may arrive.
        received += weight(frame)
        synchronized(sinkLock) { if (!synchronized(lock) { closedHere }) guarded { sink?.frame(frame) } }
    }

    /**
     * Requests the next message, unless too many bytes wait at this end. Before the sink is open, one message may wait.
     * While the transport is paused, what waits is limited to the largest frame plus the window. The window counts as
     * if all its frames were empty: a peer with the same window then never stops this end from reading the peer's
     * echoes.
     */
    private fun demand() {
        val open =
            synchronized(lock) {
                val inboxMax = limits.frameBytesMax + windowBytes * CHARGE_MAX
                val full = if (sink == null) inbox.isNotEmpty() else inboxBytes >= inboxMax
                if (requested || disconnected || (full && !closedHere)) return
                requested = socket != null
                socket
            }
        open?.demand()
    }

    /** Called when the socket was closed, with the peer's status and text. */
    fun closed(status: Int, text: String): Unit = ended(readStatus(status, text))

    /** Called when the connection has broken or could not be opened. */
    fun ended(reason: CloseReason) {
        synchronized(lock) {
            if (end == null) end = reason
            disconnected = true
            // No more messages can arrive, so a pause has no purpose.
            paused = false
            queue.clear()
        }
        DeliveryThreads.execute(::deliver)
    }

    private fun control(text: String) {
        val mark = if (marks) readMark(text) else null
        if (mark != null && mark.kind == "mark" && mark.total == received && mark.total > marked) {
            marked = mark.total
            synchronized(lock) { pendingEcho = mark.total }
            return pump()
        }
        val drained = if (mark?.kind == "taken") synchronized(lock) { window.taken(mark.total) } else null
        if (drained == null) stray(text) else if (drained) reportDrained()
    }

    private fun stray(text: String): Unit =
        close(CloseReason(CloseCode.PROTOCOL, "text where bytes were expected: \"${text.take(EXCERPT)}\""))

    /**
     * Sends the queued messages, one at a time. This function is a loop because a socket may complete each send at
     * once, and recursion could then overflow the stack.
     */
    private fun pump() {
        while (true) {
            var open: Socket
            val next =
                synchronized(lock) {
                    open = socket ?: return
                    if (sending) return
                    // A peer that is not a Clearway end does not understand marks.
                    if (!open.isOurs) while (queue.peek() is Out.Text) queue.remove()
                    val first = takePendingEcho() ?: queue.poll() ?: return
                    sending = true
                    first
                }
            val state = AtomicInteger(BEGUN)
            val sent = {
                messageSent(next)
                if (!state.compareAndSet(BEGUN, DONE)) pump()
            }
            try {
                when (next) {
                    is Out.Frame -> open.binary(next.bytes, sent)
                    is Out.Text -> open.text(next.text, sent)
                    is Out.Close -> open.close(next.status, next.text, sent)
                }
            } catch (thrown: Throwable) {
                // The socket will not call `sent`, and no other message may be sent before that call.
                return abort(
                    CloseReason(CloseCode.FAILED, "sending failed: ${thrown.javaClass.name}", emptyMap(), thrown)
                )
            }
            if (state.compareAndSet(BEGUN, LATER)) return
        }
    }

    /** Removes and returns the echo that waits. Returns null if no echo waits. The caller holds the lock. */
    private fun takePendingEcho(): Out? {
        val total = pendingEcho
        pendingEcho = -1
        return if (total < 0) null else Out.Text("taken $total")
    }

    private fun messageSent(out: Out) {
        val drained =
            synchronized(lock) {
                sending = false
                if (out is Out.Frame) queuedBytes -= charge(out.bytes)
                val now = queueFull && queuedBytes * 2 <= limits.windowBytes
                if (now) queueFull = false
                now && !marks && end == null
            }
        if (drained) DeliveryThreads.execute(::reportDrained)
    }

    private fun reportDrained(): Unit = synchronized(sinkLock) { if (!closedReported) guarded { sink?.drained() } }

    private fun reportClosed() {
        val reason =
            synchronized(lock) { end.takeIf { disconnected && !delivering && (closedHere || inbox.isEmpty()) } }
                ?: return
        synchronized(sinkLock) {
            val to = sink
            if (closedReported || to == null) return
            closedReported = true
            guarded { to.closed(reason) }
        }
    }

    private companion object {
        /** Maximum time to wait for the peer's close, in seconds. It is the same in every language. */
        const val CLOSE_SECONDS = 5L
        const val EXCERPT = 80

        // The states of a send. BEGUN: its completion is unknown. DONE: it completed before the call returned. LATER:
        // `sent` will be called after the call returned.
        const val BEGUN = 0
        const val DONE = 1
        const val LATER = 2
    }
}

/** An open WebSocket of a library. It reports its events to its transport, one at a time. */
internal interface Socket {
    /** Whether both ends agreed on Clearway's subprotocol, so that the peer is a Clearway end. */
    val isOurs: Boolean

    /**
     * Sends a binary message. Calls `sent` when the next message may be sent, possibly before this function returns.
     * The transport sends one message at a time.
     */
    fun binary(message: ByteArray, sent: () -> Unit)

    fun text(message: String, sent: () -> Unit)

    fun close(status: Int, text: String, sent: () -> Unit)

    /** Requests the next message, the next part of a message, or the close. */
    fun demand()

    /** Closes the connection without a closing handshake. */
    fun abort()
}
