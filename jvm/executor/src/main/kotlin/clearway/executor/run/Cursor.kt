// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import java.util.concurrent.atomic.AtomicInteger

/**
 * Hands out the items 0 until `size`, each once, in order, to any number of threads. Never blocks, allocates nothing.
 *
 * A claim is a read-modify-write of the position: the thread that moved it owns the items it passed. What a claimer
 * reads of the items was written before the batch was published.
 */
internal class Cursor(private val size: Int) {
    private val position = AtomicInteger()

    init {
        require(size in 0..SIZE_MAX) { "size must be from 0 to $SIZE_MAX: size=$size" }
    }

    /** The first of up to `most` items, which end at [end], or -1 when there are none left. */
    fun claim(most: Int): Int {
        // Read first: a position behind the end moves no further, so that it never runs over.
        if (position.get() >= size) return -1
        val first = position.getAndAdd(most)
        return if (first >= size) -1 else first
    }

    /** Where the claim of `most` items that began at `first` ends. */
    fun end(first: Int, most: Int): Int = minOf(first + most, size)

    /** Nothing is handed out from now on. Returns how many items never will be; 0 for all but the first to close. */
    fun close(): Int = size - minOf(position.getAndSet(size), size)

    val left: Int
        get() = size - minOf(position.get(), size)

    companion object {
        /** A quarter of what an int counts: every claimer may pass the end once by a chunk of [CHUNK_MAX]. */
        const val SIZE_MAX: Int = 1 shl 29
        const val CHUNK_MAX: Int = 1 shl 16
    }
}
