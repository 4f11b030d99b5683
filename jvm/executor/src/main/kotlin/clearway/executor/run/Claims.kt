// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.Clock
import java.util.concurrent.ConcurrentLinkedQueue

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
