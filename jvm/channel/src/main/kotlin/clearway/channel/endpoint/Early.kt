// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import java.util.ArrayDeque

/**
 * Early messages, bounded by their number in each channel, by their bytes together, and by time. A pure value: what it
 * gives back was dropped for another or is over its time, and its owner answers it.
 */
internal class Early<T : Any>(private val each: Int, private val bytesMax: Long, private val keptMs: Long) {
    private class Kept<T>(val entry: T, val bytes: Long, val untilMs: Long)

    private class Shelf<T>(var max: Int) {
        val kept = ArrayDeque<Kept<T>>()
    }

    private val shelves = LinkedHashMap<String, Shelf<T>>()
    private var bytes = 0L

    /** Keeps one; returns those that had to go for it: the oldest of its channel, or itself. */
    fun add(name: String, entry: T, size: Long, nowMs: Long): List<T> {
        val shelf = shelf(name)
        if (shelf.max == 0 || size > bytesMax) return listOf(entry)
        val gone = ArrayList<T>()
        while (shelf.kept.size >= shelf.max) gone.add(shift(shelf))
        while (bytes + size > bytesMax && shelf.kept.isNotEmpty()) gone.add(shift(shelf))
        // Other channels' messages are not dropped for this one's.
        if (bytes + size > bytesMax) return gone + entry
        shelf.kept.add(Kept(entry, size, nowMs + keptMs))
        bytes += size
        return gone
    }

    /** Takes all of a channel's, oldest first. */
    fun take(name: String): List<T> {
        val shelf = shelves[name] ?: return emptyList()
        return List(shelf.kept.size) { shift(shelf) }
    }

    /** Takes one out, if it is there. */
    fun remove(name: String, entry: T) {
        val shelf = shelves[name] ?: return
        val kept = shelf.kept.firstOrNull { it.entry === entry } ?: return
        shelf.kept.remove(kept)
        bytes -= kept.bytes
    }

    /** Sets how many of a channel are kept; returns the oldest that are too many now. */
    fun resize(name: String, max: Int): List<T> {
        val shelf = shelf(name)
        shelf.max = max
        return List(maxOf(0, shelf.kept.size - max)) { shift(shelf) }
    }

    /** Takes what was kept long enough. */
    fun expire(nowMs: Long): List<T> {
        val gone = ArrayList<T>()
        for (shelf in shelves.values) while ((shelf.kept.peek() ?: break).untilMs <= nowMs) gone.add(shift(shelf))
        return gone
    }

    /** When the next one is over its time; null when there is none. */
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
        /** Most names of channels that are kept without messages; further names drop the oldest one. */
        const val SHELVES_MAX = 1024
    }
}
