// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.channel.HandlerContext
import clearway.channel.codec.NOTHING
import clearway.channel.codec.OverLimit
import clearway.channel.wire.Op
import clearway.channel.wire.Status

/** The owner of a [Served]. All methods are called under the lock. */
internal interface ServedOwner {
    /** Called when the request was answered or cancelled. */
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
