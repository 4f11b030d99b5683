// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.channel.EventSink
import clearway.channel.WhenFull
import clearway.channel.codec.NOTHING
import clearway.channel.codec.OverLimit
import clearway.channel.transport.OBJECT_BYTES
import clearway.channel.wire.Status
import java.util.ArrayDeque
import java.util.concurrent.CompletableFuture

/**
 * Sends the events of a [Source] on one of the wires. All methods except [encode] and [error] are called under the
 * lock.
 */
internal interface SourceWire {
    /** Encodes an event. Throws [OverLimit] if no frame can hold the event. */
    fun encode(event: Any?): ByteArray

    /** Encodes an error without the parts that must not be sent. Never throws. */
    fun error(thrown: Throwable): ByteArray

    fun event(message: ByteArray, dropped: Long)

    fun end(status: Int, error: ByteArray, dropped: Long)
}

/** The capacity of a listener's queue, and the policy for a full queue. */
internal class QueueLimits(val capacity: Int, val whenFull: WhenFull)

/**
 * The stream to one listener, in the endpoint that serves it. The stream ends once. The endpoint's lock guards this
 * object.
 */
internal class Source(
    private val connection: Connection,
    override val channel: String,
    private val limits: QueueLimits,
    private val wire: SourceWire,
    private val onEnded: (Source) -> Unit,
) : EventSink {
    private class Waiter(val message: ByteArray, val settle: CompletableFuture<Boolean>?)

    private class Ending(val status: Int, val error: ByteArray)

    val queue = SourceQueue(limits.capacity, limits.whenFull, connection.queued)
    /** The events that wait for room in the queue, in order. They are charged as those in the queue are. */
    private val waiters = ArrayDeque<Waiter>()
    /** How the stream ends after all events were sent; null until the source ends it. */
    private var ending: Ending? = null
    private var ended = false
    /** Whether an event could not be sent. Only the error may be sent then. */
    private var broken = false
    /** Whether the source's code runs or waits to run. It is true until [sourceEnded]. */
    var running = true
        private set

    /** Called under the lock when the source's code has ended. */
    var onSourceEnded: () -> Unit = {}
    private val onCancel = ArrayList<Runnable>()
    /** Continues [pump]; null unless [pump] waits for credit or room. */
    private var resumePump: (() -> Unit)? = null

    private val over: Boolean
        get() = ended || broken || ending != null

    /** Whether the transport has had room since the last value of [pump]. Others may have filled it before it runs. */
    private var hadRoom = false

    private val mayPull: Boolean
        get() = (hadRoom || !connection.congested) && queue.size == 0 && waiters.isEmpty() && queue.credit.maySend

    /** Whether one more event may wait. One may always wait, so that the streams of a peer do not stop each other. */
    private val mayWait: Boolean
        get() = waiters.isEmpty() || (waiters.size < WAITERS_MAX && connection.queued.room)

    private fun wait(waiter: Waiter) {
        waiters.add(waiter)
        connection.queued.add(waiter.message)
    }

    override val isCancelled: Boolean
        get() = connection.lock.locked { over }

    override fun onCancel(act: Runnable) {
        connection.lock.locked { if (ended) connection.lock.defer(act::run) else onCancel.add(act) }
    }

    override fun send(event: Any?): CompletableFuture<Boolean> {
        val settle = CompletableFuture<Boolean>()
        val message =
            try {
                wire.encode(event)
            } catch (over: OverLimit) {
                // The stream ends, because a later event would hide the missing one.
                fail(connection.tooLarge(over))
                settle.complete(false)
                return settle
            }
        connection.lock.locked {
            val pushed =
                when {
                    over -> SourceQueue.Pushed.DROPPED
                    waiters.isNotEmpty() -> SourceQueue.Pushed.FULL
                    else -> queue.push(message)
                }
            if (pushed != SourceQueue.Pushed.FULL)
                connection.lock.defer { settle.complete(pushed == SourceQueue.Pushed.TAKEN) }
            else if (limits.whenFull == WhenFull.FAIL || !mayWait) {
                val behind = limits.capacity + waiters.size
                val what = "$channel: the listener is $behind events behind"
                connection.lock.defer { settle.completeExceptionally(ChannelException(ChannelError.QUEUE_FULL, what)) }
            } else wait(Waiter(message, settle))
            drain()
        }
        return settle
    }

    override fun end(): Unit = finish(Status.DONE, NOTHING)

    override fun fail(error: Throwable): Unit = finish(Status.ERROR, wire.error(error))

    /** Sends the events that may be sent now. */
    fun drain(): Unit =
        connection.lock.locked {
            while (!ended && !broken && !connection.congested) {
                while (waiters.isNotEmpty() && queue.room) {
                    val waiter = waiters.remove()
                    connection.queued.remove(waiter.message)
                    queue.push(waiter.message)
                    waiter.settle?.let { connection.lock.defer { it.complete(true) } }
                }
                val next = queue.next() ?: break
                try {
                    wire.event(next, queue.dropped)
                    queue.dropped = 0
                } catch (reason: Throwable) {
                    // The event does not fit in a frame. The stream ends, because a later event would hide the missing
                    // one.
                    broken = true
                    connection.lock.defer { endNow(reason) }
                }
            }
            val ending = ending
            val empty = queue.size == 0 && waiters.isEmpty()
            if (ending != null && !ended && !broken && empty && !connection.congested) close(ending)
            hadRoom = mayPull
            if (over || hadRoom) resumePumpIfWaiting()
        }

    /** Ends the stream at once. If `status` is not null, sends it to the listener. The caller holds the lock. */
    fun cancel(status: Int? = null) {
        if (ended) return
        try {
            if (status != null) wire.end(status, NOTHING, queue.dropped)
        } finally {
            stop()
        }
    }

    /**
     * Ends the stream, because the endpoint closes. If events wait, it ends with an error, so that the listener does
     * not take the stream for complete. The caller holds the lock.
     */
    fun closing() {
        val how = ending
        if (ended || broken) return
        if (queue.size > 0 || waiters.isNotEmpty()) {
            val error = ChannelException(ChannelError.CANCELLED, "$channel: the endpoint closes")
            connection.lock.defer { endNow(error) }
        } else if (how != null) close(how) else cancel(Status.DONE)
    }

    /**
     * Sends the values of an iterator. Reads a value only if no event waits, the transport has had room since the last
     * one, and the listener has granted credit. Runs on the endpoint's executor. Occupies no thread while it waits.
     */
    fun pump(iterator: Iterator<*>) {
        try {
            while (true) {
                val go = mayContinue(iterator) ?: return
                if (!go) break
                if (!iterator.hasNext()) {
                    end()
                    break
                }
                val message = wire.encode(iterator.next())
                connection.lock.locked {
                    if (!over) wait(Waiter(message, null))
                    drain()
                }
            }
        } catch (over: OverLimit) {
            fail(connection.tooLarge(over))
        } catch (thrown: Throwable) {
            fail(thrown)
        }
        closeIterator(iterator)
    }

    private fun closeIterator(iterator: Iterator<*>) {
        try {
            if (iterator is AutoCloseable) iterator.close()
        } catch (thrown: Throwable) {
            connection.settings.report(thrown, channel)
        } finally {
            sourceEnded()
        }
    }

    /** Marks that the source's code has ended. Any thread may call this function. */
    fun sourceEnded(): Unit =
        connection.lock.locked {
            running = false
            onSourceEnded()
        }

    /**
     * Returns whether [pump] may read the next value. Returns null if it must wait; [pump] is then called again later.
     */
    private fun mayContinue(iterator: Iterator<*>): Boolean? =
        connection.lock.locked {
            if (!over && !mayPull) {
                resumePump = { pumpOnExecutor(iterator) }
                null
            } else {
                hadRoom = false
                !over
            }
        }

    private fun pumpOnExecutor(iterator: Iterator<*>) {
        try {
            connection.settings.executor.execute { pump(iterator) }
        } catch (rejected: Throwable) {
            fail(rejected)
            closeIterator(iterator)
        }
    }

    private fun resumePumpIfWaiting() {
        resumePump?.let { connection.lock.defer(it) }
        resumePump = null
    }

    /** Ends the stream with an error at once. Drops the waiting events. */
    private fun endNow(thrown: Throwable) {
        val error = wire.error(thrown)
        connection.lock.locked { if (!ended) close(Ending(Status.ERROR, error)) }
    }

    private fun finish(status: Int, error: ByteArray): Unit =
        connection.lock.locked {
            if (!over) {
                ending = Ending(status, error)
                drain()
            }
        }

    private fun close(how: Ending) {
        try {
            wire.end(how.status, how.error, queue.dropped)
        } finally {
            stop()
        }
    }

    private fun stop() {
        ended = true
        queue.clear()
        for (waiter in waiters) {
            connection.queued.remove(waiter.message)
            waiter.settle?.let { connection.lock.defer { it.complete(false) } }
        }
        waiters.clear()
        for (each in onCancel) connection.lock.defer(each::run)
        onCancel.clear()
        resumePumpIfWaiting()
        onEnded(this)
    }

    private companion object {
        /**
         * Maximum number of events that may wait for room in one stream's queue. Further sends fail with `queue-full`.
         */
        const val WAITERS_MAX = 1024
    }
}

/**
 * Counts the bytes of the events that wait for one peer, over all its streams. The limit holds even if the peer
 * requests large capacities.
 */
internal class ByteBudget(private val bytesMax: Long) {
    var bytes = 0L
        private set

    fun add(event: ByteArray) {
        bytes += event.size + OBJECT_BYTES
    }

    fun remove(event: ByteArray) {
        bytes -= event.size + OBJECT_BYTES
    }

    val room: Boolean
        get() = bytes < bytesMax
}

/**
 * Queues the events of one stream that have no credit yet, up to a capacity. Does no I/O: the owner sends the events
 * that [next] returns.
 */
internal class SourceQueue(
    private val capacity: Int,
    private val whenFull: WhenFull,
    private val budget: ByteBudget = ByteBudget(Long.MAX_VALUE),
) {
    enum class Pushed {
        TAKEN,
        DROPPED,
        /** The queue did not take the event. The policy decides whether the sender waits or fails. */
        FULL,
    }

    val credit = SendCredit()
    /** The number of events dropped since an event was last sent. */
    var dropped = 0L
    private val waiting = ArrayDeque<ByteArray>()

    val size: Int
        get() = waiting.size

    /** Whether the queue can take an event without dropping one. An event that can be sent at once needs no room. */
    val room: Boolean
        get() = (waiting.size < capacity && budget.room) || (waiting.isEmpty() && credit.maySend)

    fun push(event: ByteArray): Pushed {
        val full = !room
        if (full && (whenFull == WhenFull.WAIT || whenFull == WhenFull.FAIL)) return Pushed.FULL
        // There may be no room although this queue is empty, because the events of other streams use up the byte limit.
        // There is then no older event to drop, so the new event is dropped.
        if (full && (whenFull == WhenFull.DROP_NEWEST || waiting.isEmpty())) {
            dropped++
            return Pushed.DROPPED
        }
        // As many as take the room of the new event: small ones would otherwise be replaced by large ones, beyond the
        // limit.
        var freed = 0L
        while (!room && freed < event.size + OBJECT_BYTES) {
            freed += (shift() ?: break).size + OBJECT_BYTES
            dropped++
        }
        waiting.add(event)
        budget.add(event)
        return Pushed.TAKEN
    }

    /**
     * Removes and returns the next event, if there is credit for it. Returns null if there is no event or no credit.
     */
    fun next(): ByteArray? {
        if (!credit.maySend) return null
        val first = shift() ?: return null
        credit.spend(first.size.toLong())
        return first
    }

    fun clear() {
        waiting.forEach(budget::remove)
        waiting.clear()
    }

    private fun shift(): ByteArray? {
        val first = waiting.poll() ?: return null
        budget.remove(first)
        return first
    }
}
