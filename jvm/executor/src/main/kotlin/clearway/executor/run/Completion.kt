// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.Clock
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater
import java.util.concurrent.locks.LockSupport

/**
 * Detects the end of a batch. Counts the unfinished items, keeps the first failure, and wakes the waiting thread. It is
 * a superclass of [Batch] rather than a part of it, so that a batch stays one object.
 *
 * All actions of all items happen before the end of the batch. No item runs after the end.
 */
internal abstract class Completion(size: Int, alone: Boolean, private val clock: Clock) {
    @Volatile private var unfinished = 0
    /** Whether an `alone` batch is still alone, is shared, or is over. Any other batch is shared from the start. */
    @Volatile private var sharing = 0
    @Volatile private var waiter: Thread? = null
    private var failure: Throwable? = null
    /** Whether an item has failed. */
    @Volatile
    protected var hasFailed: Boolean = false
        private set

    @Volatile
    var wasCancelled: Boolean = false
        private set

    init {
        // Lazy stores are enough, because the batch is published with a barrier later.
        UNFINISHED.lazySet(this, size)
        if (alone) SHARING.lazySet(this, ALONE)
    }

    val isOver: Boolean
        get() = unfinished <= 0 || sharing == OVER

    /**
     * Shares an `alone` batch with other threads. A thread other than the caller must call this before it uses the
     * batch. Returns false if the `alone` batch is already over.
     */
    fun share(): Boolean {
        if (sharing == ALONE) SHARING.compareAndSet(this, ALONE, SHARED)
        return sharing == SHARED
    }

    /** Ends an `alone` batch. Returns false if another thread has shared it. */
    protected fun endAlone(): Boolean = SHARING.compareAndSet(this, ALONE, OVER)

    /** Stops handing out items, and counts the unclaimed ones as finished. */
    protected abstract fun close()

    /**
     * Cancels the batch. No further item begins, and the threads in items are interrupted. The batch ends when they
     * have left. `why` becomes the failure; null if the caller was interrupted.
     */
    abstract fun cancel(why: RuntimeException?)

    /** Called once, by the thread that ended the batch, when no item runs any more. */
    protected abstract fun over()

    /**
     * Records the failure of an item and closes the batch. The first failure is the batch's; later ones are added to it
     * as suppressed.
     */
    protected fun fail(thrown: Throwable) {
        synchronized(this) {
            val first = failure
            if (first == null) failure = thrown else if (first !== thrown) first.addSuppressed(thrown)
        }
        hasFailed = true
        close()
    }

    /** Marks the batch as cancelled. Returns false if it was already cancelled or is over. */
    protected fun beginCancel(why: RuntimeException?): Boolean {
        if (!share()) return false
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

    /** Waits until no item of the batch runs any more. Returns whether the thread was interrupted meanwhile. */
    fun await(): Boolean {
        if (isOver) return false
        waiter = Thread.currentThread()
        var interrupted = false
        // Spins first. Other threads are often in their last items, and waking a parked thread costs more than the
        // spin.
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

    /** Returns the first failure of the batch, or null if there is none. */
    fun failure(): Throwable? = synchronized(this) { failure }

    private companion object {
        /**
         * Maximum duration of the spin, in ns. Waking a parked thread costs 5 to 40 us on a machine without load, so a
         * useless spin loses little.
         */
        const val SPIN_NS = 20_000L
        const val SHARED = 0
        const val ALONE = 1
        const val OVER = 2
        val SHARING: AtomicIntegerFieldUpdater<Completion> =
            AtomicIntegerFieldUpdater.newUpdater(Completion::class.java, "sharing")
        val UNFINISHED: AtomicIntegerFieldUpdater<Completion> =
            AtomicIntegerFieldUpdater.newUpdater(Completion::class.java, "unfinished")
    }
}
