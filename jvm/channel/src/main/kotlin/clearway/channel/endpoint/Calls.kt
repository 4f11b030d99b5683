// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.CallOptions
import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.channel.codec.CodecException
import clearway.channel.wire.Flag
import clearway.channel.wire.Frame
import clearway.channel.wire.Head
import clearway.channel.wire.Op
import clearway.channel.wire.Status
import clearway.channel.wire.readError
import java.util.ArrayDeque

/** Receives a call's answer or its failure, once, after the lock is released. */
internal typealias Settle = (answer: Received?, failure: Throwable?) -> Unit

/** A call of this end that has not settled. */
internal class Call(
    private val calls: Calls,
    val id: Int,
    val channel: String,
    private val message: ByteArray,
    private val options: CallOptions,
    val settle: Settle,
) : QueuedRequest {
    var timer: Timer? = null

    override fun send(): Unit = calls.send(this, message, options)

    override fun refuse(reason: Throwable): Unit = calls.refuse(this, reason)
}

/**
 * The open calls of this end. Each call settles once: by its answer, its caller, its deadline, its timeout or the end
 * of the transport.
 */
internal class Calls(
    private val connection: Connection,
    private val outbox: Outbox,
    /** Called under the lock when [awaitsReplies] may have changed. */
    private val onChange: () -> Unit,
) {
    private val open = HashMap<Int, Call>()
    private var last = 0
    /** The number of calls that were given up after they were sent, and whose replies may still arrive. */
    private var late = 0
    /** The newest id at the time when a call was last counted in [late]. */
    private var lateLast = 0
    private var idle = ArrayList<() -> Unit>()

    val size: Int
        get() = open.size

    /** Whether a reply may still arrive, to an open call or to one that was given up. */
    val awaitsReplies: Boolean
        get() = open.isNotEmpty() || late > 0

    /**
     * Starts a call. The caller holds the lock. Returns the call, which can be passed to [giveUp]. Returns null if the
     * call was refused before it opened; `settle` then receives the reason. Unless `isLimited`, `callsMax` does not
     * refuse it.
     */
    fun call(
        channel: String,
        message: ByteArray,
        options: CallOptions,
        isLimited: Boolean = true,
        settle: Settle,
    ): Call? {
        val callsMax = connection.settings.callsMax
        val refusal =
            when {
                connection.over -> connection.closedError("call to $channel")
                isLimited && open.size >= callsMax ->
                    ChannelException(ChannelError.QUEUE_FULL, "too many open calls: callsMax=$callsMax")
                else -> null
            }
        if (refusal != null) {
            connection.lock.defer { settle(null, refusal) }
            return null
        }
        val call = Call(this, nextId(), channel, message, options, settle)
        open[call.id] = call
        if (open.size == 1) onChange()
        try {
            limit(call, options)
            outbox.push(call)
        } catch (thrown: Throwable) {
            refuse(call, thrown) // The clock could not set a timer, for example for lack of threads.
        }
        return call
    }

    fun send(call: Call, message: ByteArray, options: CallOptions) {
        val name = connection.name(call.channel)
        if (connection.isPlain) connection.send(Head(Op.MESSAGE, id = call.id), name = name, body = message)
        else
            connection.send(
                Head(Op.CALL, id = call.id, a = toWire(options.deadlineMs), b = toWire(options.timeoutMs)),
                name = name,
                body = message,
            )
    }

    fun refuse(call: Call, reason: Throwable) {
        if (take(call.id) != null) end(call, null, reason)
    }

    /**
     * Settles the call that a reply answers. Drops the reply if the call has settled already. The caller holds the
     * lock.
     */
    fun reply(frame: Frame, message: Received) {
        if (late > 0) countLate(frame.id)
        val call = take(frame.id) ?: return
        if (frame.op == Op.ANSWER || frame.a == Status.DONE.toLong()) end(call, message, null)
        else end(call, null, failure(frame, call.channel, connection.valuesMax))
    }

    /**
     * Settles a call before its answer arrives. Sends a cancel to the other end if the call was sent and the wire is
     * Clearway's.
     */
    fun giveUp(call: Call, status: Int, reason: Throwable) {
        connection.lock.locked {
            if (open.containsKey(call.id)) {
                val wasSent = !outbox.remove(call)
                if (wasSent) {
                    late++
                    lateLast = last
                }
                take(call.id)
                if (wasSent && !connection.isPlain) connection.send(Head(Op.CANCEL, id = call.id, a = status.toLong()))
                end(call, null, reason)
            }
        }
    }

    /**
     * Updates [late] when a reply arrives. On Clearway's wire, an end does not reply to a call whose cancel it has
     * read, and replies keep their order. A reply to a call that was sent after the last cancel therefore follows all
     * late replies. The plain wire has no cancel, so every call is answered.
     */
    private fun countLate(id: Int) {
        if (!open.containsKey(id)) late-- else if (!connection.isPlain && id - lateLast > 0) late = 0
        if (late == 0) onChange()
    }

    /** Fails all open calls, because the transport has closed. */
    fun closed() {
        for (call in open.values.toList()) {
            take(call.id)
            end(call, null, connection.closedError("call to ${call.channel}"))
        }
    }

    /** Runs `act` when no call is open. `act` runs after the lock is released. */
    fun whenIdle(act: () -> Unit) {
        if (open.isEmpty()) connection.lock.defer(act) else idle.add(act)
    }

    private fun end(call: Call, answer: Received?, failure: Throwable?): Unit =
        connection.lock.defer { call.settle(answer, failure) }

    private fun limit(call: Call, options: CallOptions) {
        val deadlineMs = if (options.deadlineMs > 0) options.deadlineMs else Long.MAX_VALUE
        // On the plain wire, the other end does not enforce timeouts, so this end does.
        val timeoutMs = if (connection.isPlain && options.timeoutMs > 0) options.timeoutMs else Long.MAX_VALUE
        val ms = minOf(deadlineMs, timeoutMs)
        if (ms == Long.MAX_VALUE) return
        val error = if (ms == deadlineMs) ChannelError.DEADLINE else ChannelError.TIMEOUT
        val status = if (ms == deadlineMs) Status.CANCELLED else Status.TIMEOUT
        call.timer =
            connection.settings.clock.after(ms) {
                giveUp(call, status, ChannelException(error, "no answer of ${call.channel} in $ms ms"))
            }
    }

    private fun take(id: Int): Call? {
        val call = open.remove(id) ?: return null
        call.timer?.stop()
        if (open.isEmpty()) {
            onChange()
            for (each in idle) connection.lock.defer(each)
            idle.clear()
        }
        return call
    }

    // The id 0 means that a message wants no reply, so no call uses it.
    private fun nextId(): Int {
        do last++ while (last == 0 || open.containsKey(last))
        return last
    }
}

/** Converts a failed reply, or the end of a stream, to an exception. */
internal fun failure(frame: Frame, channel: String, valuesMax: Int): Throwable {
    if (frame.a != Status.ERROR.toLong() || frame.flags and Flag.EMPTY != 0) return statusError(frame.a, channel)
    return try {
        readError(frame.body, channel, valuesMax)
    } catch (unreadable: CodecException) {
        ChannelException(ChannelError.PROTOCOL, "an error of $channel that could not be read", null, unreadable)
    }
}

/** Returns the exception for a status that has no error body. */
internal fun statusError(status: Long, channel: String): ChannelException {
    val (error, what) =
        when (status.toInt()) {
            Status.NOT_IMPLEMENTED -> ChannelError.NOT_IMPLEMENTED to "the other end has no such method"
            Status.NO_HANDLER -> ChannelError.NO_HANDLER to "the other end has no handler, or is closing"
            Status.DROPPED ->
                ChannelError.DROPPED to "dropped by the other end, whose buffer of early messages was full"
            Status.CANCELLED -> ChannelError.CANCELLED to "cancelled by the other end"
            Status.TIMEOUT -> ChannelError.TIMEOUT to "the handler ran longer than timeoutMs"
            Status.BUSY -> ChannelError.QUEUE_FULL to "the other end runs as many calls as its callsMax allows"
            else -> ChannelError.PROTOCOL to "status $status"
        }
    return ChannelException(error, "$channel: $what")
}

/** Returns the error for a reply without bytes on the plain wire. */
internal fun noAnswer(channel: String): ChannelException =
    ChannelException(ChannelError.NOT_IMPLEMENTED, "$channel: not implemented by the other end, or no handler there")

// Converts a time in milliseconds to its number on the wire, where 0 means no limit. A time of 2^32 - 1 ms or more also
// becomes 0.
private fun toWire(ms: Long): Long = if (ms < 0xffff_ffffL) ms else 0

/** A request that waits to be sent. `send` sends it. If `send` throws, `refuse` receives the exception. */
internal interface QueuedRequest {
    fun send()

    fun refuse(reason: Throwable)
}

/**
 * Keeps requests in order while the transport applies back-pressure. The callers limit the number of requests. The
 * endpoint's lock guards this object.
 */
internal class Outbox(private val connection: Connection) {
    private val waiting = ArrayDeque<QueuedRequest>()

    /** Sends a request now, or keeps it until the transport has room. */
    fun push(request: QueuedRequest) {
        if (waiting.isEmpty() && !connection.congested) send(request) else waiting.add(request)
    }

    /** Removes a request that was not sent yet. Returns false if it was sent already. */
    fun remove(request: QueuedRequest): Boolean = waiting.removeFirstOccurrence(request)

    /** Sends waiting requests while the transport has room. */
    fun drain() {
        while (!connection.congested) send(waiting.poll() ?: return)
    }

    /** Removes all waiting requests, because the connection has ended. */
    fun clear(): Unit = waiting.clear()

    private fun send(request: QueuedRequest) {
        try {
            request.send()
        } catch (reason: Throwable) {
            request.refuse(reason)
        }
    }
}
