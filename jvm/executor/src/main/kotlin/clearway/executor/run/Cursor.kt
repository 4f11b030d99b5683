// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import java.util.concurrent.atomic.AtomicInteger

/**
 * Hands out the items 0 until `size`, each once, in order, to any number of threads. Never blocks. Allocates nothing.
 *
 * A claim atomically advances the position. The claiming thread owns the items that the advance passed. The batch is
 * published before any claim, so the claiming thread sees the items.
 */
internal class Cursor(private val size: Int) {
    private val position = AtomicInteger()

    init {
        require(size in 0..SIZE_MAX) { "size must be from 0 to $SIZE_MAX: size=$size" }
    }

    /**
     * Claims up to `countMax` items. Returns the first one, or -1 if none is left. [end] returns the end of the claim.
     */
    fun claim(countMax: Int): Int {
        // Reads the position first. A claim that begins after the position has reached the end does not move it. So
        // each thread passes the end at most once, and the position cannot overflow (SIZE_MAX).
        if (position.get() >= size) return -1
        val first = position.getAndAdd(countMax)
        return if (first >= size) -1 else first
    }

    /** Returns the end of a claim of `countMax` items from `first`. */
    fun end(first: Int, countMax: Int): Int = minOf(first + countMax, size)

    /** Stops handing out items. Returns the number of items that were left; 0 for all but the first call. */
    fun close(): Int = size - minOf(position.getAndSet(size), size)

    /** Number of items that no thread has claimed. */
    val left: Int
        get() = size - minOf(position.get(), size)

    companion object {
        /**
         * Maximum number of items: a quarter of the positive int range. The remaining range is room for claims that
         * pass the end. Each thread passes the end at most once, by at most [CHUNK_MAX] items.
         */
        const val SIZE_MAX: Int = 1 shl 29
        const val CHUNK_MAX: Int = 1 shl 16
    }
}
