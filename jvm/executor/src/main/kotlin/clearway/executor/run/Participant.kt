// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.model.DurationHistogram
import java.util.concurrent.atomic.AtomicInteger

/**
 * One thread's part in a batch.
 *
 * In bulk a thread claims many items at once and tells before each, by a plain store, which it begins; that costs
 * nothing that can be measured. What it has not begun can be taken back when it is stuck: [recall]. The thief lowers
 * the limit and then makes the owner pass a barrier by looking at its stack, which stops the owner at a safepoint in
 * every JVM that we know. So
 *
 *     owner: store item i; load limit          thief: store limit; stop the owner; load the item
 *
 * cannot both miss: either the thief sees `i`, and leaves it to the owner, or the owner sees the limit before it begins
 * `i`, and asks under the lock how far it may go.
 */
internal class Participant(val thread: Thread) {
    private val current = AtomicInteger()
    /** Under which the owner goes on without asking: the chunk's end, or nothing after a recall. */
    private val limit = AtomicInteger()
    private var chunkEnd = 0
    private var active = true
    private var interruptedByUs = false

    // What the watchdog saw when it last looked; only it uses these.
    var lookedItem = -1
    var lookedCpuNs = -1L
    var idleSinceNs = 0L
    var lookedWaitedNs = -1L

    /** The system's number of the thread, or -1. */
    var threadNumber = -1L

    // What this thread measured; read by others after it left.
    var items = 0
    var itemsNs = 0L
    var cpuStartNs = -1L
    var startNs = 0L
    var buckets: IntArray? = null

    /** The item that the thread runs or is about to run. */
    var item: Int
        get() = current.get()
        set(begun) = current.setOpaque(begun)

    /** The chunk of a batch that is run whole by one thread; before the batch is published. */
    fun ownsAll(size: Int) {
        chunkEnd = size
        limit.setPlain(size)
    }

    /** The owner begins a claimed chunk. */
    fun begin(first: Int, end: Int) {
        synchronized(this) {
            chunkEnd = end
            current.setPlain(first)
            limit.setPlain(end)
        }
    }

    /**
     * The owner runs its chunk from `first` on, up to what is still its own. Returns the first item that is not; where
     * `run` throws, [item] is the one that threw.
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
     * The owner is done with its chunk, and has none: what it runs next may be single items that were taken back, lower
     * ones among them, behind which nothing is its own.
     */
    fun done(end: Int) {
        synchronized(this) {
            current.setOpaque(end)
            chunkEnd = 0
        }
    }

    /**
     * Takes back what the owner has not begun of its chunk: `[first, end)`, or null. Stops the owner for an instant.
     */
    fun recall(): IntRange? =
        synchronized(this) {
            limit.set(0)
            thread.stackTrace // The barrier; what it returns is not needed.
            val first = current.get() + 1
            if (first >= chunkEnd) return null
            val taken = first until chunkEnd
            chunkEnd = first
            taken
        }

    /** Items of the chunk that its owner seems not to have begun: a hint. */
    val behind: Int
        get() = maxOf(0, synchronized(this) { chunkEnd } - current.get() - 1)

    /** The owner stops at an item that failed. Returns how many of its items from `next` on are dropped. */
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

    /**
     * The thread leaves the batch: no interrupt meets it afterwards, and one of ours that came too late is taken back.
     */
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
