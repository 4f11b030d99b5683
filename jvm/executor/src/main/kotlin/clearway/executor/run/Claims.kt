// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.Clock
import java.util.concurrent.ConcurrentLinkedQueue

/**
 * The items of a batch that no thread has claimed, and the threads that claim them. Takes back from a stuck thread what
 * it has claimed and not begun. A superclass of [Batch] for the same reason as [Completion].
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

    /** Announces that the calling thread takes part. Called before the batch is published. */
    fun callerIsHere(): Participant = Participant(Thread.currentThread()).also { caller = it }

    /** Number of items that no thread has claimed. */
    val waiting: Int
        get() = cursor.left + (synchronized(this) { takenBack }?.size ?: 0)

    protected fun takesPart(me: Participant) {
        if (me !== caller)
            synchronized(this) { (participants ?: ArrayList<Participant>().also { participants = it }) += me }
        // The thread that closes the cursor counts what it drops. This thread may come before the one that cancels.
        if (wasCancelled) close()
    }

    fun everyone(): List<Participant> {
        val helpers = synchronized(this) { participants?.toList() } ?: emptyList()
        return caller?.let { helpers + it } ?: helpers
    }

    /** Claims one item that was taken back; null when there is none. */
    protected fun claimTakenBack(): Int? = synchronized(this) { takenBack }?.poll()

    /** Frees what a stuck thread has claimed and not begun, for other threads. Returns the number of items. */
    fun takeBackFrom(stuck: Participant): Int {
        val back = synchronized(this) { takenBack ?: ConcurrentLinkedQueue<Int>().also { takenBack = it } }
        val taken = stuck.recall() ?: return 0
        for (index in taken) back.add(index)
        // A failure that came between dropped the items that were there then.
        if (failure() != null || wasCancelled) close()
        return taken.last - taken.first + 1
    }

    override fun cancel(why: RuntimeException?) {
        if (!beginCancel(why)) return
        // Closes before it interrupts: otherwise a thread could leave the item that it was interrupted in and begin
        // another one, which nothing interrupts.
        close()
        for (one in everyone()) {
            one.recall()?.let { finish(it.last - it.first + 1) }
            one.interrupt()
        }
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
