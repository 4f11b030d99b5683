// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason
import clearway.channel.transport.OBJECT_BYTES
import clearway.channel.wire.Head
import java.util.ArrayDeque

/** The owner of a [Replies]. All methods are called under the lock. */
internal interface RepliesOwner {
    /**
     * Returns whether the transport may be paused. It may not while answers to this end may still arrive, even if their
     * callers have given up: if answers wait at both ends, one end must read.
     */
    fun mayPause(): Boolean

    /** Called when the size of the waiting replies has dropped to half of the limit. */
    fun room()

    /** Closes the connection at once, because the other end does not read. */
    fun end(reason: CloseReason)
}

/**
 * Keeps replies while the transport applies back-pressure. The size of the waiting replies is charged to the other end.
 * At the limit, [full] becomes true. No further handler starts then, and the transport is paused unless an answer to
 * this end may still arrive. If the other end then reads no reply for `stallMs`, the connection is closed. The
 * endpoint's lock guards this object.
 */
internal class Replies(private val connection: Connection, private val owner: RepliesOwner) {
    private class Reply(val head: Head, val body: ByteArray, val onSentOrDropped: () -> Unit) {
        val bytes: Long
            get() = OBJECT_BYTES + body.size
    }

    private val waiting = ArrayDeque<Reply>()
    private var paused = false
    private var stalled: Timer? = null

    /** The size of the waiting replies, in bytes. */
    var bytes = 0L
        private set

    /** Whether the size of the waiting replies has reached the limit. Becomes false again at half of the limit. */
    var full = false
        private set

    val size: Int
        get() = waiting.size

    /**
     * Sends a reply now, or when the transport has room. Calls `onSentOrDropped` when the reply was sent or dropped.
     * Never throws.
     */
    fun send(head: Head, body: ByteArray, onSentOrDropped: () -> Unit) {
        if (connection.reason != null) return onSentOrDropped()
        if (waiting.isEmpty() && !connection.congested) {
            connection.control(head, body = body)
            return onSentOrDropped()
        }
        val reply = Reply(head, body, onSentOrDropped)
        waiting.add(reply)
        bytes += reply.bytes
        val settings = connection.settings
        if (waiting.size > settings.callsMax.toLong() + REFUSALS_MAX) disconnect("reads no answers and goes on calling")
        else if (bytes >= settings.replyBytesMax) becomeFull()
    }

    /** Pauses or resumes the transport, depending on [full] and on the owner. */
    fun updatePause() {
        val pause = full && owner.mayPause()
        if (pause == paused) return
        paused = pause
        if (pause) connection.pause() else connection.resume()
    }

    /** Sends waiting replies. The owner calls this function when the transport has room again. */
    fun drain() {
        val before = waiting.size
        while (!connection.congested) {
            val reply = waiting.poll() ?: break
            bytes -= reply.bytes
            connection.control(reply.head, body = reply.body)
            reply.onSentOrDropped()
        }
        if (full && waiting.size < before) afterDrain()
    }

    /** Drops the waiting replies, because the connection has ended. */
    fun clear() {
        stalled?.stop()
        full = false
        bytes = 0
        while (true) (waiting.poll() ?: return).onSentOrDropped()
    }

    private fun becomeFull() {
        if (!full) startStallTimer()
        full = true
        updatePause()
    }

    private fun afterDrain() {
        stalled?.stop()
        if (bytes * 2 > connection.settings.replyBytesMax) return startStallTimer()
        full = false
        updatePause()
        owner.room()
    }

    private fun startStallTimer() {
        val ms = connection.settings.stallMs
        if (ms == 0L) return
        stalled =
            connection.settings.clock.after(ms) {
                connection.lock.locked { if (full) disconnect("has read no answer for $ms ms") }
            }
    }

    private fun disconnect(what: String) {
        owner.end(CloseReason(CloseCode.TIMEOUT, "the other end $what: $bytes bytes of answers wait"))
    }

    private companion object {
        /**
         * Maximum number of refusals that may wait in addition to the answers of `callsMax` calls. A peer over this
         * limit does not read at all. Go's HTTP/2 server limits comparable frames to 10,000.
         */
        const val REFUSALS_MAX = 8192L
    }
}
