// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.WhenFull
import clearway.channel.transport.OBJECT_BYTES
import java.util.ArrayDeque

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
        if (full) dropped++
        // There may be no room although this queue is empty, because the events of other streams use up the byte limit.
        // There is then no older event to drop, so the new event is dropped.
        if (full && (whenFull == WhenFull.DROP_NEWEST || waiting.isEmpty())) return Pushed.DROPPED
        if (full) shift()
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
