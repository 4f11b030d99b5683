// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.Clock
import clearway.executor.host.VirtualThreads
import java.lang.ref.Reference
import java.lang.ref.WeakReference
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater

/** The running batches, for the watchdog and for `shutdownNow`. Publishing one is a store in the caller's lane. */
internal class Registry {
    /** The slot where one thread publishes its batch, the innermost first. */
    class Lane(thread: Thread) {
        val owner: WeakReference<Thread> = WeakReference(thread)
        @Volatile
        var current: Batch? = null
            private set

        /** Number of the executor's jobs that this thread is in, as a helper. Only the thread itself uses it. */
        var inside = 0

        private var waitedNs = 0L
        private var threadNumber = 0L

        /** Returns the system's number of the thread. Reads it once. Called by the thread itself. */
        fun threadNumber(clock: Clock): Long {
            if (threadNumber == 0L) threadNumber = clock.threadNumber()
            return threadNumber
        }

        /**
         * Returns an upper bound of how long the thread waited for a processor since the last call. `nowNs` is its
         * total so far. Includes waits between the last call and the batch, so the batch's measured sleep may be too
         * short.
         */
        fun waitedSince(nowNs: Long): Long {
            if (nowNs < 0) return 0
            val since = nowNs - waitedNs
            waitedNs = nowNs
            return since
        }

        /** Whether other threads read this lane. Not for lanes of virtual threads, of which there may be a million. */
        var isSeen = false
        val isVirtual: Boolean = VirtualThreads.isVirtual(thread)

        /** Whether work that this thread starts belongs to work that the executor has accepted. */
        val isNested: Boolean
            get() = inside > 0 || current != null

        /**
         * Publishes a batch with a volatile store: it is visible before anything that this thread reads afterwards.
         * Pairs with the reads of `current` in [running] and [isIdle].
         */
        fun publish(batch: Batch?) {
            current = batch
        }

        /**
         * Withdraws a batch with a release store: it is visible after everything that this thread did before. It orders
         * nothing that follows.
         */
        fun withdraw(outer: Batch?): Unit = CURRENT.lazySet(this, outer)

        private companion object {
            val CURRENT: AtomicReferenceFieldUpdater<Lane, Batch> =
                AtomicReferenceFieldUpdater.newUpdater(Lane::class.java, Batch::class.java, "current")
        }
    }

    private val lanes = CopyOnWriteArrayList<Lane>()
    // A thread that outlives the executor keeps this value until its map of thread-locals is cleaned, possibly for
    // ever. So the value is not an object of our classes, which would keep all classes of their loader. A thread in a
    // batch keeps its lane alive.
    private val mine = ThreadLocal<Reference<Lane>>()
    private val detached: MutableSet<Batch> = ConcurrentHashMap.newKeySet()

    fun lane(): Lane = mine.get()?.get() ?: newLane()

    private fun newLane(): Lane = Lane(Thread.currentThread()).also { mine.set(WeakReference(it)) }

    /** Publishes a batch of the current thread to all threads. */
    fun publish(lane: Lane, batch: Batch) {
        batch.outer = lane.current
        if (lane.isVirtual) detached.add(batch) else see(lane)
        lane.publish(batch)
    }

    fun see(lane: Lane) {
        if (lane.isSeen) return
        lane.isSeen = true
        lanes += lane
    }

    fun withdraw(lane: Lane, batch: Batch) {
        if (lane.isVirtual) detached.remove(batch)
        lane.publish(batch.outer)
    }

    /** Adds a batch without a waiting caller. */
    fun addDetached(batch: Batch) {
        detached.add(batch)
    }

    fun removeDetached(batch: Batch) {
        detached.remove(batch)
    }

    /** Whether no thread is in a batch. */
    val isIdle: Boolean
        get() = lanes.none { it.current != null }

    /**
     * Returns every batch that was published before and is not withdrawn. Drops the lanes of threads that have ended.
     */
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
