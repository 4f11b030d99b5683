// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.model.DurationHistogram
import java.util.concurrent.atomic.AtomicInteger

/**
 * One thread's part in a batch.
 *
 * In bulk mode a thread claims many items at once. Before each item, a plain store announces it; the store has no
 * measurable cost. Items that have not begun can be taken back while the thread is stuck: [recall]. The thief lowers
 * the limit, then makes the owner pass a barrier by reading its stack, which stops the owner at a safepoint in every
 * known JVM. So
 *
 *     owner: store item i; load limit          thief: store limit; stop the owner; load the item
 *
 * cannot both miss: either the thief sees `i`, and leaves it to the owner; or the owner sees the limit before it begins
 * `i`, and asks under the lock how far it may go.
 */
internal class Participant(val thread: Thread) {
    private val current = AtomicInteger()
    /** Below this item the owner continues without asking: the chunk's end, or 0 after a recall. */
    private val limit = AtomicInteger()
    private var chunkEnd = 0
    private var active = true
    private var interruptedByUs = false

    // The watchdog's last sample. Only the watchdog uses these fields.
    var lookedItem = -1
    var lookedCpuNs = -1L
    var idleSinceNs = 0L
    var lookedWaitedNs = -1L

    /** The system's number of the thread, or -1. */
    var threadNumber = -1L

    // This thread's measurements. Other threads read them after it has left.
    var items = 0
    var itemsNs = 0L
    var cpuStartNs = -1L
    var startNs = 0L
    var buckets: IntArray? = null

    /** The item that the thread runs or is about to run. */
    var item: Int
        get() = current.get()
        set(begun) = current.setOpaque(begun)

    /** Sets the chunk of a batch that one thread runs alone. Call it before the batch is published. */
    fun ownsAll(size: Int) {
        chunkEnd = size
        limit.setPlain(size)
    }

    /** Begins a claimed chunk. Called by the owner. */
    fun begin(first: Int, end: Int) {
        synchronized(this) {
            chunkEnd = end
            current.setPlain(first)
            limit.setPlain(end)
        }
    }

    /**
     * Runs the chunk from `first` on, as far as the owner still owns it. Called by the owner. Returns the first item
     * that it does not own. If `run` throws, [item] is the item that threw.
     */
    inline fun runFrom(first: Int, run: (Int) -> Unit): Int {
        val current = current
        val limit = limit
        var index = first
        while (true) {
            current.setOpaque(index)
            if (index >= limit.opaque && !goesOn(index)) return index
            run(index)
            index++
        }
    }

    private fun goesOn(index: Int): Boolean =
        synchronized(this) {
            limit.setPlain(chunkEnd)
            index < chunkEnd
        }

    /**
     * Ends the chunk. Called by the owner. It then owns no chunk: the next items may be single items that were taken
     * back, some with lower numbers, and it does not own the items after them.
     */
    fun done(end: Int) {
        synchronized(this) {
            current.setOpaque(end)
            chunkEnd = 0
        }
    }

    /**
     * Takes back the items of the chunk that the owner has not begun: `[first, end)`, or null. Stops the owner briefly.
     */
    fun recall(): IntRange? =
        synchronized(this) {
            limit.set(0)
            // The barrier: pairs with the owner's store of `current` and load of `limit`. The stack itself is not
            // needed.
            thread.stackTrace
            val first = current.get() + 1
            if (first >= chunkEnd) return null
            val taken = first until chunkEnd
            chunkEnd = first
            taken
        }

    /** Number of the chunk's items that the owner seems not to have begun. A hint. */
    val behind: Int
        get() = maxOf(0, synchronized(this) { chunkEnd } - current.get() - 1)

    /**
     * Gives up the chunk after a failed item. Called by the owner. Returns how many items from `next` on it owned; no
     * thread owns them now.
     */
    fun giveUp(next: Int): Int =
        synchronized(this) {
            val rest = maxOf(0, chunkEnd - next)
            chunkEnd = minOf(chunkEnd, next)
            rest
        }

    /** Whether the thread is still in the batch. */
    val isActive: Boolean
        get() = synchronized(this) { active }

    /** Interrupts the thread if it is still in the batch. */
    fun interrupt() {
        synchronized(this) {
            if (!active || thread === Thread.currentThread()) return
            interruptedByUs = true
            thread.interrupt()
        }
    }

    /** Leaves the batch. No interrupt of the batch reaches the thread afterwards; clears one that came too late. */
    fun leave() {
        synchronized(this) {
            active = false
            if (interruptedByUs) Thread.interrupted()
        }
    }

    fun countDuration(ns: Long) {
        val counts = buckets ?: IntArray(DurationHistogram.BUCKETS).also { buckets = it }
        counts[DurationHistogram.bucketOf(ns)]++
    }
}
