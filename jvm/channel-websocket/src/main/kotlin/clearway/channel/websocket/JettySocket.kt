// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason
import java.nio.ByteBuffer
import org.eclipse.jetty.websocket.api.Callback
import org.eclipse.jetty.websocket.api.Session

/** A connection of a server, based on Jetty. */
internal class JettySocket(
    val transport: SocketTransport,
    override val isOurs: Boolean,
    private val open: MutableSet<JettySocket>,
    private val connectionsMax: Int,
    /** Returns the time in ms since bytes have last arrived or left. */
    private val idleMs: () -> Long,
    private val connected: () -> Unit,
) : Session.Listener, Socket {
    private lateinit var session: Session
    /** Whether any message, ping or pong has arrived since the last ping. */
    @Volatile private var alive = true

    private val pongSent =
        object : Callback {
            override fun succeed() = pongLeft()

            override fun fail(failure: Throwable?) = pongLeft()
        }
    /** Whether an answer to a ping is on its way. `pongSent` guards it, and the next answer. */
    private var isPonging = false
    private var nextPong: ByteBuffer? = null

    private fun pongLeft() {
        val next =
            synchronized(pongSent) {
                isPonging = nextPong != null
                nextPong.also { nextPong = null }
            }
        if (next != null) session.sendPong(next, pongSent)
    }

    override fun onWebSocketOpen(session: Session) {
        this.session = session
        val hasRoom = synchronized(open) { open.size < connectionsMax && open.add(this) }
        transport.opened(this)
        // The server refuses requests while it is full, but requests that arrive at the same time may all be accepted.
        if (!hasRoom) return transport.close(CloseReason(CloseCode.REFUSED, "too many connections"))
        try {
            connected()
        } catch (thrown: Throwable) {
            uncaught(thrown)
            transport.abort(CloseReason(CloseCode.FAILED, "onConnect threw", emptyMap(), thrown))
        }
    }

    override fun onWebSocketPartialBinary(payload: ByteBuffer, last: Boolean, callback: Callback) {
        alive = true
        transport.binary(payload, last)
        callback.succeed()
    }

    override fun onWebSocketPartialText(payload: String, last: Boolean) {
        alive = true
        transport.text(payload, last)
    }

    override fun onWebSocketPong(payload: ByteBuffer) {
        alive = true
        demand()
    }

    override fun onWebSocketPing(payload: ByteBuffer) {
        alive = true
        // Jetty may use the payload's memory again after `demand`.
        pong(ByteBuffer.allocate(payload.remaining()).put(payload).flip())
        demand()
    }

    /**
     * Answers a ping. One answer is on its way at a time, and only the last one waits: a peer that pings and never
     * reads must not fill the memory.
     */
    private fun pong(payload: ByteBuffer) {
        synchronized(pongSent) {
            if (isPonging) {
                nextPong = payload
                return
            }
            isPonging = true
        }
        session.sendPong(payload, pongSent)
    }

    override fun onWebSocketClose(statusCode: Int, reason: String?) {
        open -= this
        transport.closed(statusCode, reason.orEmpty())
    }

    override fun onWebSocketError(cause: Throwable) {
        open -= this
        transport.ended(
            CloseReason(CloseCode.LOST, "the connection broke: ${cause.message ?: cause}", emptyMap(), cause)
        )
    }

    /**
     * Returns whether the peer has sent anything since the last ping. Returns true while the socket is not read,
     * because no pong can arrive then, and while bytes of a message leave, because the ping waits behind it.
     */
    fun answered(pingMs: Long): Boolean = alive || !transport.isRead || transport.isSending && idleMs() < pingMs

    fun ping() {
        alive = false
        if (session.isOpen) session.sendPing(WebSocketServer.NO_PAYLOAD.duplicate(), Callback.NOOP)
    }

    override fun binary(message: ByteArray, sent: () -> Unit): Unit =
        session.sendBinary(ByteBuffer.wrap(message), callbackOf(sent))

    override fun text(message: String, sent: () -> Unit): Unit = session.sendText(message, callbackOf(sent))

    override fun close(status: Int, text: String, sent: () -> Unit): Unit =
        session.close(status, text, callbackOf(sent))

    override fun demand() {
        try {
            // Also called after this end has closed, because the peer's close must be read.
            session.demand()
        } catch (_: IllegalStateException) {
            // The connection is closed, or a request is pending already. Jetty reports a close to the listener.
        }
    }

    override fun abort() {
        open -= this
        session.disconnect()
    }

    // Returns a callback that calls `sent` in any case. A failed send ends the connection, and Jetty reports that end
    // to the listener.
    private fun callbackOf(sent: () -> Unit): Callback = Callback.from(sent) { sent() }
}

// The WebSocket status of each close code; spec/websocket.md has the table. Browsers can send only 1000 and 3000 to
// 4999. Clearway's own statuses are therefore in the range for private use.

private val statuses =
    mapOf(
        CloseCode.CLOSED to 1000,
        CloseCode.LOST to 4001,
        CloseCode.PROTOCOL to 4002,
        CloseCode.TOO_LARGE to 4003,
        CloseCode.REFUSED to 4004,
        CloseCode.TIMEOUT to 4005,
        CloseCode.FAILED to 4006,
    )
private val ours = statuses.entries.associate { it.value to it.key }

/** Maximum size of the text in a close frame, in bytes. */
private const val TEXT_BYTES = 123

internal fun closeStatus(code: CloseCode): Int = statuses.getValue(code)

/**
 * Returns the beginning of a message that fits in a close frame. Does not split a character. Replaces half of a
 * surrogate pair, because a close frame with it is not sent.
 */
internal fun closeText(message: String): String {
    var text = String(message.take(TEXT_BYTES + 1).toByteArray()).take(TEXT_BYTES)
    while (text.toByteArray().size > TEXT_BYTES || text.lastOrNull()?.isHighSurrogate() == true) text = text.dropLast(1)
    return text
}

/**
 * Returns the close reason for a received close frame. If the status is not one of Clearway's, the detail contains the
 * status.
 */
internal fun readStatus(status: Int, text: String): CloseReason {
    ours[status]?.let {
        return CloseReason(it, text.ifEmpty { it.code })
    }
    val code =
        when (status) {
            1002,
            1003,
            1007 -> CloseCode.PROTOCOL
            1006 -> CloseCode.LOST
            1008,
            1013 -> CloseCode.REFUSED
            1009 -> CloseCode.TOO_LARGE
            1010,
            1011,
            1014,
            1015 -> CloseCode.FAILED
            else -> CloseCode.CLOSED
        }
    val words = if (code == CloseCode.LOST) "the connection broke" else "closed with status $status"
    return CloseReason(code, text.ifEmpty { words }, mapOf("closeCode" to status))
}
