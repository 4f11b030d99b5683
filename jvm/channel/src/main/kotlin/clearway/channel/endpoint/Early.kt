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

    /** The early messages of each channel that has some, oldest first. */
    private val buffers = LinkedHashMap<String, ArrayDeque<Kept<T>>>()
    private var bytes = 0L

    /**
     * Keeps an entry of `size` bytes. Returns the entries that were dropped: the oldest entries of the channel, the new
     * entry, or both.
     */
    fun add(name: String, entry: T, size: Long, nowMs: Long): List<T> {
        if (each == 0 || size > bytesMax) return listOf(entry)
        val buffer = buffers[name] ?: ArrayDeque()
        val dropped = ArrayList<T>()
        while (buffer.isNotEmpty() && (buffer.size >= each || bytes + size > bytesMax)) dropped.add(shift(buffer))
        // Messages of other channels are never dropped to make room.
        val fits = bytes + size <= bytesMax
        if (fits) {
            buffer.add(Kept(entry, size, nowMs + keptMs))
            bytes += size
        }
        if (buffer.isEmpty()) buffers.remove(name) else buffers[name] = buffer
        return if (fits) dropped else dropped + entry
    }

    /** Removes and returns all entries of a channel, oldest first. */
    fun take(name: String): List<T> {
        val buffer = buffers.remove(name) ?: return emptyList()
        return List(buffer.size) { shift(buffer) }
    }

    /** Removes an entry. Does nothing if the entry is not kept. */
    fun remove(name: String, entry: T) {
        val buffer = buffers[name] ?: return
        val kept = buffer.firstOrNull { it.entry === entry } ?: return
        buffer.remove(kept)
        bytes -= kept.bytes
        if (buffer.isEmpty()) buffers.remove(name)
    }

    /** Removes and returns the entries that have expired. */
    fun expire(nowMs: Long): List<T> {
        val expired = ArrayList<T>()
        for (buffer in buffers.values) while ((buffer.peek() ?: break).untilMs <= nowMs) expired.add(shift(buffer))
        buffers.values.removeIf { it.isEmpty() }
        return expired
    }

    /** The time at which the next entry expires; null if there is no entry. In milliseconds of the clock. */
    val nextMs: Long?
        get() = buffers.values.minOfOrNull { it.first.untilMs }

    private fun shift(buffer: ArrayDeque<Kept<T>>): T {
        val first = buffer.remove()
        bytes -= first.bytes
        return first.entry
    }
}
