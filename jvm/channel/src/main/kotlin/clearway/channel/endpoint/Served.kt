// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.channel.HandlerContext
import clearway.channel.codec.NOTHING
import clearway.channel.codec.OverLimit
import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason
import clearway.channel.transport.OBJECT_BYTES
import clearway.channel.wire.Head
import clearway.channel.wire.Op
import clearway.channel.wire.Status
import java.util.ArrayDeque
import java.util.concurrent.CompletionException
import java.util.concurrent.CompletionStage

/** The owner of a [Served]. All methods are called under the lock. */
internal interface ServedOwner {
    /** Called when the request is answered or cancelled, before its answer is sent. */
    fun settled(served: Served)

    /** Sends the answer. Calls `onSentOrDropped` when the answer was sent or dropped. Never throws. */
    fun reply(op: Int, flags: Int, id: Int, status: Long, body: ByteArray, onSentOrDropped: () -> Unit)

    /** Called when the handler has ended and the answer was sent. The request no longer counts against `callsMax`. */
    fun finished(served: Served)
}

/**
 * A call or a post of the other end. Only the first answer is sent. Later answers are dropped, and so is an answer
 * after the request was cancelled. The endpoint's lock guards this object.
 */
internal class Served(
    private val connection: Connection,
    val id: Int,
    override val channel: String,
    val message: Received,
    /** Whether the other end wants an answer. */
    val wanted: Boolean,
    deadlineMs: Long,
    private val timeoutMs: Long,
    private val owner: ServedOwner,
) : HandlerContext {
    override val deadlineMs: Long? = deadlineMs.takeIf { it > 0 }
    var settled = false
        private set

    private var cancelled: Throwable? = null
    private val onCancel = ArrayList<Runnable>()
    private var timer: Timer? = null
    private var phase = Phase.WAITS
    /** Whether the answer waits to be sent. */
    private var answerQueued = false

    /** The state of the handler. An executor may start a handler late, or never. */
    private enum class Phase {
        WAITS,
        GIVEN,
        RUNS,
        ENDED,
    }

    override val isCancelled: Boolean
        get() = connection.lock.locked { cancelled != null }

    override fun onCancel(act: Runnable) {
        connection.lock.locked {
            if (cancelled != null) connection.lock.defer(act::run) else if (!settled) onCancel.add(act)
        }
    }

    /** Marks that the handler is passed to its executor, and starts the timeout. The caller holds the lock. */
    fun start() {
        phase = Phase.GIVEN
        if (timeoutMs == 0L) return
        timer =
            connection.settings.clock.after(timeoutMs) {
                connection.lock.locked {
                    if (!settled) {
                        answer(Status.TIMEOUT)
                        val what = "the handler of $channel ran longer than $timeoutMs ms"
                        cancel(ChannelException(ChannelError.TIMEOUT, what))
                    }
                }
            }
    }

    /**
     * Runs `start`, which passes the handler to its executor. Fails the request if the executor rejects the handler.
     */
    fun started(start: () -> Unit) {
        try {
            start()
        } catch (rejected: Throwable) {
            fail(rejected)
            connection.lock.locked { if (phase == Phase.GIVEN) ended() }
        }
    }

    /**
     * Marks that the handler is about to run. Returns false if the request has settled; the handler must not run then.
     * Any thread may call this function.
     */
    fun begin(): Boolean =
        connection.lock.locked {
            if (settled) ended() else phase = Phase.RUNS
            !settled
        }

    /**
     * Marks that the handler has ended. A handler that continues after its call was cancelled counts against `callsMax`
     * until then. Any thread may call this function.
     */
    fun ended(): Unit =
        connection.lock.locked {
            phase = Phase.ENDED
            release()
        }

    /** Cancels the request and settles it without an answer. The caller holds the lock. */
    fun cancel(reason: Throwable) {
        if (cancelled != null) return
        cancelled = reason
        for (each in onCancel) connection.lock.defer(each::run)
        onCancel.clear()
        settle()
        release()
    }

    /** Answers the request. On the plain wire, an answer whose status is not `DONE` has no bytes. */
    fun answer(status: Int, message: ByteArray = NOTHING, flags: Int = 0): Unit =
        answer(status, message, flags, connection.tooLarge(message))

    /**
     * Answers the request with the message that `encode` returns. Throws the exceptions of `encode`, except
     * [OverLimit]: the answer is then the error `too-large`.
     */
    fun answer(encode: () -> ByteArray) {
        val message =
            try {
                encode()
            } catch (over: OverLimit) {
                return answer(Status.DONE, NOTHING, 0, connection.tooLarge(over))
            }
        answer(Status.DONE, message)
    }

    /** Answers the request with the message, or with `tooLarge` if there is no frame for the message. */
    private fun answer(status: Int, message: ByteArray, flags: Int, tooLarge: ChannelException?): Unit =
        connection.lock.locked {
            if (settle() && wanted) {
                answerQueued = true
                reply(status, message, flags, tooLarge)
            }
            release()
        }

    /**
     * Answers with the handler's error. On the plain wire, `envelope` encodes the error; without `envelope`, the answer
     * has no bytes. If the error cannot be sent and the request has not settled, reports the error at this end.
     */
    fun fail(thrown: Throwable, envelope: ((Throwable) -> ByteArray)? = null) {
        val sendable = wanted && (!connection.isPlain || envelope != null)
        if (!sendable && !connection.lock.locked { settled }) connection.settings.report(thrown, channel)
        val redacted = if (sendable) connection.redacted(thrown, channel) else thrown
        if (!connection.isPlain) return answer(Status.ERROR, if (sendable) connection.errorBody(redacted) else NOTHING)
        var message = NOTHING
        try {
            message = envelope?.invoke(redacted) ?: NOTHING
        } catch (unwritten: Throwable) {
            connection.settings.report(unwritten, channel)
        }
        answer(Status.DONE, message)
    }

    private fun settle(): Boolean {
        if (settled) return false
        settled = true
        timer?.stop()
        owner.settled(this)
        return true
    }

    private fun release() {
        if (settled && !answerQueued && (phase == Phase.WAITS || phase == Phase.ENDED)) owner.finished(this)
    }

    private fun reply(status: Int, message: ByteArray, flags: Int, tooLarge: ChannelException?) {
        val onSentOrDropped = {
            answerQueued = false
            release()
        }
        if (tooLarge != null) connection.lock.defer { connection.settings.report(tooLarge, channel) }
        if (connection.isPlain) {
            val body = if (tooLarge != null || status != Status.DONE) NOTHING else message
            owner.reply(Op.ANSWER, 0, id, 0, body, onSentOrDropped)
        } else if (tooLarge != null)
            owner.reply(Op.REPLY, 0, id, Status.ERROR.toLong(), connection.errorBody(tooLarge), onSentOrDropped)
        else owner.reply(Op.REPLY, flags, id, status.toLong(), message, onSentOrDropped)
    }
}

/** Runs a handler and sends its answer when the handler's stage completes. Never throws. */
internal fun <T> run(served: Served, handle: () -> CompletionStage<T>, answer: (T) -> Unit, fail: (Throwable) -> Unit) {
    // The request may have settled already. The caller may have cancelled it while the handler waited for a thread, or
    // the executor may have refused the handler.
    if (!served.begin()) return
    try {
        handle().whenComplete { value, thrown ->
            try {
                if (thrown != null) fail((thrown as? CompletionException)?.cause ?: thrown) else answer(value)
            } catch (refused: Throwable) {
                fail(refused) // `answer` threw, for example because the codec cannot encode the value.
            } finally {
                served.ended()
            }
        }
    } catch (thrown: Throwable) {
        try {
            fail(thrown)
        } finally {
            served.ended()
        }
    }
}

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
 * this end may still arrive. If the other end then reads no reply for `stallMs`, or for `stallMs` per MiB while a
 * larger message leaves, the connection is closed. The endpoint's lock guards this object.
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
        val stallMs = connection.settings.stallMs
        if (stallMs == 0L) return
        val times = (connection.fillingBytes - 1) / STALL_BYTES + 1
        val ms = minOf(stallMs, Long.MAX_VALUE / times) * times
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

        /**
         * The part of a large message for which a peer has `stallMs`, in bytes. By the default, a peer that reads 35
         * KB/s is not disconnected. How much of a message has left is not known.
         */
        const val STALL_BYTES = 1 shl 20
    }
}
