// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import java.util.concurrent.atomic.AtomicInteger

/**
 * Hands out the items 0 until `size`, each once, in order, to any number of threads. Never blocks. Allocates nothing.
 *
 * A claim is a read-modify-write of the position: the thread that moves it owns the items that it passed. Publishing
 * the batch happens before a claim, so a claimer sees the items.
 */
internal class Cursor(private val size: Int) {
    private val position = AtomicInteger()

    init {
        require(size in 0..SIZE_MAX) { "size must be from 0 to $SIZE_MAX: size=$size" }
    }

    /** Claims up to `most` items. Returns the first, or -1 if none is left; [end] returns where they end. */
    fun claim(most: Int): Int {
        // Reads first: once behind the end, the position does not move, so it cannot overflow.
        if (position.get() >= size) return -1
        val first = position.getAndAdd(most)
        return if (first >= size) -1 else first
    }

    /** Returns the end of a claim of `most` items from `first`. */
    fun end(first: Int, most: Int): Int = minOf(first + most, size)

    /** Stops handing out items. Returns how many items remain; 0 for all but the first call. */
    fun close(): Int = size - minOf(position.getAndSet(size), size)

    val left: Int
        get() = size - minOf(position.get(), size)

    companion object {
        /** A quarter of an int's range: every claimer may pass the end once by a chunk of [CHUNK_MAX]. */
        const val SIZE_MAX: Int = 1 shl 29
        const val CHUNK_MAX: Int = 1 shl 16
    }
}
