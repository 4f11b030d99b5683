// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.WhenFull
import java.util.ArrayDeque

/**
 * Bytes of events that wait for one peer, over all its streams. The limit holds whatever capacities the peer asks for.
 */
internal class QueueCharge(private val bytesMax: Long) {
    var bytes = 0L

    val room: Boolean
        get() = bytes < bytesMax
}

/** Queues events that have no credit yet, up to a capacity. Does no I/O: its owner sends what [next] returns. */
internal class SourceQueue(
    private val capacity: Int,
    private val whenFull: WhenFull,
    private val charge: QueueCharge = QueueCharge(Long.MAX_VALUE),
) {
    enum class Pushed {
        TAKEN,
        DROPPED,
        /** It is handed back: wait, or fail, as the policy says. */
        FULL,
    }

    val credit = SendCredit()
    /** Dropped since the last event that left. */
    var dropped = 0L
    private val waiting = ArrayDeque<ByteArray>()

    val size: Int
        get() = waiting.size

    /** Whether an event would be taken and none dropped for it. What may leave at once does not wait. */
    val room: Boolean
        get() = (waiting.size < capacity && charge.room) || (waiting.isEmpty() && credit.maySend)

    fun push(event: ByteArray): Pushed {
        val full = !room
        if (full && (whenFull == WhenFull.WAIT || whenFull == WhenFull.FAIL)) return Pushed.FULL
        if (full) dropped++
        // The second case: other streams' events have taken the room, and this stream has none to drop.
        if (full && (whenFull == WhenFull.DROP_NEWEST || waiting.isEmpty())) return Pushed.DROPPED
        if (full) shift()
        waiting.add(event)
        charge.bytes += event.size
        return Pushed.TAKEN
    }

    /** The next event that may leave; null when there is none. */
    fun next(): ByteArray? {
        if (!credit.maySend) return null
        val first = shift() ?: return null
        credit.spend(first.size.toLong())
        return first
    }

    fun clear() {
        for (event in waiting) charge.bytes -= event.size
        waiting.clear()
    }

    private fun shift(): ByteArray? {
        val first = waiting.poll() ?: return null
        charge.bytes -= first.size
        return first
    }
}
