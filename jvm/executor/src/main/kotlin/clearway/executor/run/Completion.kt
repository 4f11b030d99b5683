// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.Clock
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater
import java.util.concurrent.locks.LockSupport

/**
 * The end of a batch: counts the items that have not finished, keeps the first failure, and wakes the thread that
 * waits. A superclass of [Batch] rather than a part of it, so that a batch stays one object.
 *
 * Everything that a thread did in an item happens before the end. Nothing of the batch runs after it.
 */
internal abstract class Completion(size: Int, alone: Boolean, private val clock: Clock) {
    @Volatile private var unfinished = 0
    @Volatile private var openness = 0
    @Volatile private var waiter: Thread? = null
    private var failure: Throwable? = null
    @Volatile
    var wasCancelled: Boolean = false
        private set

    init {
        // Publishing the batch is barrier enough.
        UNFINISHED.lazySet(this, size)
        if (alone) OPENNESS.lazySet(this, ALONE)
    }

    val isOver: Boolean
        get() = unfinished <= 0 || openness == OVER

    /** Called before any thread but the caller does anything with the batch. Returns false when it is over. */
    fun open(): Boolean {
        if (openness == ALONE) OPENNESS.compareAndSet(this, ALONE, OPEN)
        return openness == OPEN
    }

    /** Ends a batch that no other thread has opened. Returns false when one has. */
    protected fun endAlone(): Boolean = OPENNESS.compareAndSet(this, ALONE, OVER)

    /** Hands out no further items, and counts those that no thread claimed as finished. */
    protected abstract fun close()

    /** Begins no further item and interrupts the threads in items. The batch ends when they have left. */
    abstract fun cancel(why: RuntimeException?)

    /** Called once, when nothing of the batch runs any more, by the thread that ended it. */
    protected abstract fun over()

    /** Keeps the first failure as the batch's, and adds later ones to it as suppressed. Begins no further item. */
    protected fun fail(thrown: Throwable) {
        synchronized(this) {
            val first = failure
            if (first == null) failure = thrown else if (first !== thrown) first.addSuppressed(thrown)
        }
        close()
    }

    /** Marks the batch as cancelled. Returns false when it was cancelled before, or is over. */
    protected fun beginCancel(why: RuntimeException?): Boolean {
        if (!open()) return false
        synchronized(this) {
            if (wasCancelled || isOver) return false
            wasCancelled = true
            if (failure == null) failure = why
        }
        return true
    }

    /** Counts items as finished. The thread that counts the last one ends the batch. */
    protected fun finish(count: Int) {
        if (count == 0 || UNFINISHED.addAndGet(this, -count) > 0) return
        waiter?.let(LockSupport::unpark)
        over()
    }

    /** Waits until nothing of the batch runs any more. Returns whether the thread was interrupted meanwhile. */
    fun await(): Boolean {
        if (isOver) return false
        waiter = Thread.currentThread()
        var interrupted = false
        // Spins first: other threads are often at their last item, and waking a parked thread costs more than this.
        val spinUntil = clock.nanoTime() + SPIN_NS
        while (!isOver) {
            if (clock.nanoTime() < spinUntil) Thread.onSpinWait() else LockSupport.park(this)
            if (Thread.interrupted()) {
                interrupted = true
                cancel(null)
            }
        }
        waiter = null
        return interrupted
    }

    /** Why the batch failed, once it is over; null where every item ran. */
    fun failure(): Throwable? = synchronized(this) { failure }

    private companion object {
        /**
         * Less than waking a parked thread costs on a machine without load (5 to 40 us), so that it never loses much.
         */
        const val SPIN_NS = 20_000L
        const val OPEN = 0
        const val ALONE = 1
        const val OVER = 2
        val OPENNESS: AtomicIntegerFieldUpdater<Completion> =
            AtomicIntegerFieldUpdater.newUpdater(Completion::class.java, "openness")
        val UNFINISHED: AtomicIntegerFieldUpdater<Completion> =
            AtomicIntegerFieldUpdater.newUpdater(Completion::class.java, "unfinished")
    }
}
