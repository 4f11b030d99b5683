// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.Clock
import clearway.executor.model.DurationHistogram
import java.util.concurrent.atomic.AtomicInteger

/**
 * One thread that takes part in a batch.
 *
 * In bulk mode a thread claims many items at once and owns them. It announces each item with an opaque store before it
 * begins the item; the store has no measurable cost. While the owner is stuck in an item, another thread can take back
 * the items that the owner has not begun ([recall]). That thread lowers the limit. Then it reads the owner's stack,
 * which stops the owner at a safepoint in every known JVM, and so acts as a barrier in the owner. These are the steps
 * of the two threads:
 *
 *     owner: store item i; load limit          other: store limit; stop the owner; load the item
 *
 * At least one of them sees the other's store. Either the other thread sees `i`, and leaves it to the owner. Or the
 * owner sees the limit before it begins `i`, and checks under the lock how far it may go.
 */
internal class Participant(val thread: Thread) {
    private val current = AtomicInteger()
    /** The owner may begin items below this index without the lock. It is the chunk's end, or 0 after a recall. */
    private val limit = AtomicInteger()
    private var chunkEnd = 0
    private var active = true
    private var interruptedByUs = false

    // The watchdog's last sample. Only the watchdog uses these fields.
    var sampledItem = -1
    var sampledCpuNs = -1L
    var idleSinceNs = 0L
    var sampledWaitedNs = -1L

    /** The system's number of the thread, or -1 if unknown. */
    var threadNumber = -1L

    /** Number of items that this thread claimed and did not begin. Only the thread itself uses it. */
    var dropped = 0

    // This thread's measurements. Only the thread itself uses these fields.
    var items = 0
    var itemsNs = 0L
    var cpuStartNs = -1L
    var startNs = 0L
    var buckets: IntArray? = null

    /** The index of the item that the thread runs or is about to run. */
    var item: Int
        get() = current.get()
        set(begun) = current.setOpaque(begun)

    /** Gives this thread all items of an `alone` batch as one chunk. Call it before the batch is published. */
    fun ownsAll(size: Int) {
        chunkEnd = size
        limit.setPlain(size)
    }

    /** Begins a claimed chunk, from `first` until `end`. Called by the owner. */
    fun begin(first: Int, end: Int) {
        synchronized(this) {
            chunkEnd = end
            current.setPlain(first)
            limit.setPlain(end)
        }
    }

    /**
     * Runs the chunk from `first` on, as far as the owner still owns it. Called by the owner. Returns the first index
     * that the owner does not own. If `run` throws, [item] is the item that threw.
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

    /** Checks under the lock whether the owner may begin the item at `index`. */
    private fun goesOn(index: Int): Boolean =
        synchronized(this) {
            limit.setPlain(chunkEnd)
            index < chunkEnd
        }

    /**
     * Ends the chunk. Called by the owner, which then owns no chunk. Its next items may be single items that were taken
     * back, also with lower indexes, and the owner does not own the items after them.
     */
    fun done(end: Int) {
        synchronized(this) {
            current.setOpaque(end)
            chunkEnd = 0
        }
    }

    /**
     * Takes back the items of the chunk that the owner has not begun. Returns their range, or null if there are none.
     * Stops the owner briefly.
     */
    fun recall(): IntRange? =
        synchronized(this) {
            limit.set(0)
            // Reads the stack for its barrier only. The barrier pairs with the owner's store of `current` and load of
            // `limit`.
            try {
                thread.stackTrace
            } catch (_: Throwable) {
                // The thread's class is one of the app, or a security manager forbids it. Without the barrier, the
                // owner keeps its items.
                return null
            }
            val first = current.get() + 1
            if (first >= chunkEnd) return null
            val taken = first until chunkEnd
            chunkEnd = first
            taken
        }

    /** Approximate number of the chunk's items that the owner has not begun. */
    val behind: Int
        get() = maxOf(0, synchronized(this) { chunkEnd } - current.get() - 1)

    /**
     * Gives up the chunk's items from `next` on. Called by the owner. Returns how many items it gave up. No thread owns
     * them now, so the caller counts them as finished.
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

    /** Interrupts the thread if it is still in the batch. Never throws: the thread's class may be one of the app. */
    fun interrupt() {
        val thrown =
            synchronized(this) {
                if (!active || thread === Thread.currentThread()) return
                interruptedByUs = true
                thrownByInterrupt(thread)
            }
        if (thrown != null) uncaught(thrown)
    }

    /**
     * Leaves the batch, which does not interrupt the thread afterwards. Clears the thread's interrupt status if the
     * batch has interrupted the thread.
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

/** Sums of the measurements of one batch's threads. Each thread adds its measurements when it leaves. */
internal class Totals {
    var items = 0
    var itemsNs = 0L
    var cpuItems = 0
    var cpuWallNs = 0L
    var cpuNs = 0L
    var waitedNs = 0L
    var threads = 0
    var buckets: IntArray? = null

    fun add(one: Participant, lane: Registry.Lane, clock: Clock, timedItems: Boolean) {
        val wallNs = clock.nanoTime() - one.startNs
        val endCpuNs = if (one.cpuStartNs >= 0) clock.threadCpuNs() else -1
        val awayNs = if (endCpuNs < 0) 0 else wallNs - (endCpuNs - one.cpuStartNs)
        // Distinguishes sleep from waiting for a processor. The reading costs 5 us, so it is made only for a thread
        // that was off its processor for long.
        val waited = if (awayNs > maxOf(AWAY_NS, wallNs / 4)) lane.waitedSince(clock.waitedForProcessorNs()) else 0
        synchronized(this) {
            threads++
            items += one.items
            itemsNs += if (timedItems) one.itemsNs else wallNs
            if (endCpuNs >= 0) {
                cpuItems += one.items
                cpuWallNs += wallNs
                cpuNs += endCpuNs - one.cpuStartNs
                waitedNs += minOf(waited, awayNs)
            }
            val counts = one.buckets ?: return
            val sum = buckets ?: IntArray(DurationHistogram.BUCKETS).also { buckets = it }
            for (b in sum.indices) sum[b] += counts[b]
        }
    }

    private companion object {
        /** Minimum time off the processor, in ns, that counts. The model has the same limit. */
        const val AWAY_NS = 20_000L
    }
}

/**
 * The parts of the caller's thread that helping threads copy: its context class loader, and the values of the site's
 * thread-locals. They are read when the batch is created. A helper gets its own values back when it leaves.
 */
internal class Context(private val locals: List<ThreadLocal<Any?>>, caller: Thread = Thread.currentThread()) {
    private val loader: ClassLoader? = caller.contextClassLoader
    private val values: Array<Any?> = valuesOf(locals)

    /** The helper's own values, from before it entered. */
    class Scope(val loader: ClassLoader?, val values: Array<Any?>)

    /**
     * Sets the caller's values on the current thread. Returns the thread's previous values for [leave]. If a
     * thread-local throws, restores the previous values and throws that exception.
     */
    fun enter(): Scope {
        val thread = Thread.currentThread()
        val before = Scope(thread.contextClassLoader, valuesOf(locals))
        try {
            if (before.loader !== loader) thread.contextClassLoader = loader
            for (i in values.indices) locals[i].set(values[i])
        } catch (thrown: Throwable) {
            restore(before)
            throw thrown
        }
        return before
    }

    /**
     * Restores the values that [enter] returned. A thread-local that throws does not stop the others from being
     * restored. Throws the first such exception at the end.
     */
    fun leave(scope: Scope?) {
        restore(scope ?: return)?.let { throw it }
    }

    /** Restores all values. Returns the first exception of a thread-local, or null if there is none. */
    private fun restore(before: Scope): Throwable? {
        val thread = Thread.currentThread()
        var failure: Throwable? = null
        try {
            if (thread.contextClassLoader !== before.loader) thread.contextClassLoader = before.loader
        } catch (thrown: Throwable) {
            failure = thrown // A security manager may forbid it.
        }
        for (i in values.indices) {
            try {
                if (before.values[i] == null) locals[i].remove() else locals[i].set(before.values[i])
            } catch (thrown: Throwable) {
                failure = failure ?: thrown
            }
        }
        return failure
    }

    private companion object {
        val EMPTY = arrayOfNulls<Any?>(0)

        fun valuesOf(locals: List<ThreadLocal<Any?>>) =
            if (locals.isEmpty()) EMPTY else Array(locals.size) { locals[it].get() }
    }
}
