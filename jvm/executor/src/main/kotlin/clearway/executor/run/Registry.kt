// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import java.lang.ref.WeakReference
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CopyOnWriteArrayList

/** The batches that run now, for the watchdog and for `shutdownNow`. To publish one is a store in the caller's lane. */
internal class Registry {
    /** Where one thread publishes the batch that it is in, innermost first. */
    class Lane(thread: Thread) {
        val owner: WeakReference<Thread> = WeakReference(thread)
        @Volatile var current: Batch? = null
        /** How many jobs of the executor this thread is in, as a helper; its own thread's only. */
        var inside = 0

        /** Whether what this thread starts belongs to work that the executor has taken on. */
        val isNested: Boolean
            get() = inside > 0 || current != null
    }

    private val lanes = CopyOnWriteArrayList<Lane>()
    private val mine = ThreadLocal.withInitial { Lane(Thread.currentThread()).also(lanes::add) }
    private val detached: MutableSet<Batch> = ConcurrentHashMap.newKeySet()

    fun lane(): Lane = mine.get()

    /** A batch that no caller waits in. */
    fun addDetached(batch: Batch) {
        detached.add(batch)
    }

    fun removeDetached(batch: Batch) {
        detached.remove(batch)
    }

    /** Every batch that was published before and not withdrawn. Forgets the lanes of threads that ended. */
    fun running(): List<Batch> {
        val found = ArrayList<Batch>(detached)
        var ended = false
        for (lane in lanes) {
            var batch = lane.current
            while (batch != null) {
                found += batch
                batch = batch.outer
            }
            if (lane.owner.get()?.isAlive != true) ended = true
        }
        if (ended) lanes.removeIf { it.owner.get()?.isAlive != true }
        return found
    }
}
