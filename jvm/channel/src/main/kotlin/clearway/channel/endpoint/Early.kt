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

    /** The early messages of one channel, oldest first. */
    private class ChannelBuffer<T>(var max: Int) {
        val kept = ArrayDeque<Kept<T>>()
    }

    private val buffers = LinkedHashMap<String, ChannelBuffer<T>>()
    private var bytes = 0L

    /**
     * Keeps an entry of `size` bytes. Returns the entries that were dropped: the oldest entries of the channel, the new
     * entry, or both.
     */
    fun add(name: String, entry: T, size: Long, nowMs: Long): List<T> {
        val buffer = buffer(name)
        if (buffer.max == 0 || size > bytesMax) return listOf(entry)
        val dropped = ArrayList<T>()
        while (buffer.kept.size >= buffer.max) dropped.add(shift(buffer))
        while (bytes + size > bytesMax && buffer.kept.isNotEmpty()) dropped.add(shift(buffer))
        // Messages of other channels are never dropped to make room.
        if (bytes + size > bytesMax) return dropped + entry
        buffer.kept.add(Kept(entry, size, nowMs + keptMs))
        bytes += size
        return dropped
    }

    /** Removes and returns all entries of a channel, oldest first. */
    fun take(name: String): List<T> {
        val buffer = buffers[name] ?: return emptyList()
        return List(buffer.kept.size) { shift(buffer) }
    }

    /** Removes an entry. Does nothing if the entry is not kept. */
    fun remove(name: String, entry: T) {
        val buffer = buffers[name] ?: return
        val kept = buffer.kept.firstOrNull { it.entry === entry } ?: return
        buffer.kept.remove(kept)
        bytes -= kept.bytes
    }

    /** Sets how many entries of a channel are kept. Removes and returns the oldest entries above that number. */
    fun resize(name: String, max: Int): List<T> {
        val buffer = buffer(name)
        buffer.max = max
        return List(maxOf(0, buffer.kept.size - max)) { shift(buffer) }
    }

    /** Removes and returns the entries that have expired. */
    fun expire(nowMs: Long): List<T> {
        val expired = ArrayList<T>()
        for (buffer in buffers.values) while ((buffer.kept.peek() ?: break).untilMs <= nowMs) expired.add(shift(buffer))
        return expired
    }

    /** The time at which the next entry expires; null if there is no entry. In milliseconds of the clock. */
    val nextMs: Long?
        get() = buffers.values.mapNotNull { it.kept.peek()?.untilMs }.minOrNull()

    private fun buffer(name: String): ChannelBuffer<T> {
        buffers[name]?.let {
            return it
        }
        if (buffers.size >= BUFFERS_MAX) {
            val empty = buffers.entries.firstOrNull { it.value.kept.isEmpty() }
            if (empty != null) buffers.remove(empty.key)
        }
        return ChannelBuffer<T>(each).also { buffers[name] = it }
    }

    private fun shift(buffer: ChannelBuffer<T>): T {
        val first = buffer.kept.remove()
        bytes -= first.bytes
        return first.entry
    }

    private companion object {
        /** Maximum number of channel names. A further name evicts the oldest name that has no messages. */
        const val BUFFERS_MAX = 1024
    }
}
