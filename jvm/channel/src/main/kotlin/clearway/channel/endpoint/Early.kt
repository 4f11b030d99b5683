// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import java.util.ArrayDeque

/**
 * Keeps early messages, which arrive before their channel has a handler. The number of messages of each channel, the
 * bytes of all messages and the time are limited. This class does no I/O. Its methods return the entries that were
 * dropped or have expired, and the caller answers these messages.
 */
internal class Early<T : Any>(private val each: Int, private val bytesMax: Long, private val keptMs: Long) {
    private class Kept<T>(val entry: T, val bytes: Long, val untilMs: Long)

    private class Shelf<T>(var max: Int) {
        val kept = ArrayDeque<Kept<T>>()
    }

    private val shelves = LinkedHashMap<String, Shelf<T>>()
    private var bytes = 0L

    /**
     * Keeps an entry of `size` bytes. Returns the entries that were dropped: the oldest entries of the channel, the new
     * entry, or both.
     */
    fun add(name: String, entry: T, size: Long, nowMs: Long): List<T> {
        val shelf = shelf(name)
        if (shelf.max == 0 || size > bytesMax) return listOf(entry)
        val gone = ArrayList<T>()
        while (shelf.kept.size >= shelf.max) gone.add(shift(shelf))
        while (bytes + size > bytesMax && shelf.kept.isNotEmpty()) gone.add(shift(shelf))
        // Messages of other channels are never dropped to make room.
        if (bytes + size > bytesMax) return gone + entry
        shelf.kept.add(Kept(entry, size, nowMs + keptMs))
        bytes += size
        return gone
    }

    /** Removes and returns all entries of a channel, oldest first. */
    fun take(name: String): List<T> {
        val shelf = shelves[name] ?: return emptyList()
        return List(shelf.kept.size) { shift(shelf) }
    }

    /** Removes an entry. Does nothing if the entry is not kept. */
    fun remove(name: String, entry: T) {
        val shelf = shelves[name] ?: return
        val kept = shelf.kept.firstOrNull { it.entry === entry } ?: return
        shelf.kept.remove(kept)
        bytes -= kept.bytes
    }

    /** Sets how many entries of a channel are kept. Removes and returns the oldest entries above that number. */
    fun resize(name: String, max: Int): List<T> {
        val shelf = shelf(name)
        shelf.max = max
        return List(maxOf(0, shelf.kept.size - max)) { shift(shelf) }
    }

    /** Removes and returns the entries that have expired. */
    fun expire(nowMs: Long): List<T> {
        val gone = ArrayList<T>()
        for (shelf in shelves.values) while ((shelf.kept.peek() ?: break).untilMs <= nowMs) gone.add(shift(shelf))
        return gone
    }

    /** The time at which the next entry expires; null if there is no entry. In milliseconds of the clock. */
    val nextMs: Long?
        get() = shelves.values.mapNotNull { it.kept.peek()?.untilMs }.minOrNull()

    private fun shelf(name: String): Shelf<T> {
        shelves[name]?.let {
            return it
        }
        if (shelves.size >= SHELVES_MAX) {
            val empty = shelves.entries.firstOrNull { it.value.kept.isEmpty() }
            if (empty != null) shelves.remove(empty.key)
        }
        return Shelf<T>(each).also { shelves[name] = it }
    }

    private fun shift(shelf: Shelf<T>): T {
        val first = shelf.kept.remove()
        bytes -= first.bytes
        return first.entry
    }

    private companion object {
        /** Maximum number of channel names. A further name evicts the oldest name that has no messages. */
        const val SHELVES_MAX = 1024
    }
}
