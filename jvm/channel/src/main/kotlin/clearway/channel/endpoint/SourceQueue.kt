// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.WhenFull
import java.util.ArrayDeque

/** Events on their way to a listener: those that have no credit yet, up to a capacity. A pure value. */
internal class SourceQueue(private val capacity: Int, private val whenFull: WhenFull) {
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
        get() = waiting.size < capacity || (waiting.isEmpty() && credit.maySend)

    fun push(event: ByteArray): Pushed {
        val full = !room
        if (full && (whenFull == WhenFull.WAIT || whenFull == WhenFull.FAIL)) return Pushed.FULL
        if (full) dropped++
        if (full && whenFull == WhenFull.DROP_NEWEST) return Pushed.DROPPED
        if (full) waiting.remove()
        waiting.add(event)
        return Pushed.TAKEN
    }

    /** The next event that may leave; null when there is none. */
    fun next(): ByteArray? {
        if (!credit.maySend) return null
        val first = waiting.poll() ?: return null
        credit.spend(first.size.toLong())
        return first
    }

    fun clear(): Unit = waiting.clear()
}
