// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.Clock
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger
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
        try {
            synchronized(this) {
                val first = failure
                if (first == null) failure = thrown else if (first !== thrown) first.addSuppressed(thrown)
            }
        } finally {
            // Also if there is no memory to add the exception.
            hasFailed = true
            close()
        }
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

/**
 * Tracks the unclaimed items of a batch and the threads that claim them. Takes items back from a stuck thread that has
 * claimed but not begun them. It is a superclass of [Batch] rather than a part of it, so that a batch stays one object.
 */
internal abstract class Claims(size: Int, alone: Boolean, clock: Clock) : Completion(size, alone, clock) {
    protected val cursor: Cursor = if (alone) NOTHING else Cursor(size)
    /** Items that were taken back; null until the first one. */
    private var takenBack: ConcurrentLinkedQueue<Int>? = null
    private var participants: ArrayList<Participant>? = null
    protected var caller: Participant? = null
        private set

    init {
        if (alone) callerIsHere().ownsAll(size)
    }

    /** Adds the calling thread as a participant. Called before the batch is published. */
    fun callerIsHere(): Participant = Participant(Thread.currentThread()).also { caller = it }

    /** Number of items that no thread has claimed, including items that were taken back. */
    val waiting: Int
        get() = cursor.left + (synchronized(this) { takenBack }?.size ?: 0)

    /** Adds a thread. Returns false if the batch was cancelled; the thread must then claim no item. */
    protected fun takesPart(me: Participant): Boolean {
        if (me !== caller)
            synchronized(this) { (participants ?: ArrayList<Participant>().also { participants = it }) += me }
        // `cancel` sets its flag before it closes the cursor, and this thread may come between the two. `cancel` then
        // counts the unclaimed items.
        return !wasCancelled
    }

    fun everyone(): List<Participant> {
        val helpers = synchronized(this) { participants?.toList() } ?: emptyList()
        return caller?.let { helpers + it } ?: helpers
    }

    /** Claims one item that was taken back. Returns null if there is none. */
    protected fun claimTakenBack(): Int? = synchronized(this) { takenBack }?.poll()

    /** Takes back the items that a stuck thread has claimed but not begun, for other threads. Returns their number. */
    fun takeBackFrom(stuck: Participant): Int {
        val back = synchronized(this) { takenBack ?: ConcurrentLinkedQueue<Int>().also { takenBack = it } }
        val taken = stuck.recall() ?: return 0
        for (index in taken) back.add(index)
        // If the batch failed or was cancelled meanwhile, its `close` did not find these items. Drops them now.
        if (failure() != null || wasCancelled) close()
        return taken.last - taken.first + 1
    }

    override fun cancel(why: RuntimeException?) {
        if (!beginCancel(why)) return
        // Closes before it interrupts. Otherwise an interrupted thread could leave its item and begin another one,
        // which would not be interrupted.
        close()
        for (one in everyone()) {
            dropChunk(one)
            one.interrupt()
        }
    }

    /** Drops the items that the other threads have claimed but not begun. Call it after [close]. */
    protected fun dropChunks(except: Participant) {
        for (one in everyone()) if (one !== except) dropChunk(one)
    }

    private fun dropChunk(one: Participant) {
        one.recall()?.let { finish(it.last - it.first + 1) }
    }

    override fun close() {
        var dropped = cursor.close()
        val back = synchronized(this) { takenBack }
        while (back?.poll() != null) dropped++
        if (dropped > 0) finish(dropped)
    }

    private companion object {
        val NOTHING = Cursor(0)
    }
}

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
         * pass the end. Each thread passes the end at most once, by at most the 20,000 items of a chunk.
         */
        const val SIZE_MAX: Int = 1 shl 29
    }
}
