// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.Clock
import clearway.executor.host.VirtualThreads
import java.lang.ref.Reference
import java.lang.ref.WeakReference
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater

/** The batches that run now, for the watchdog and for `shutdownNow`. To publish one is a store in the caller's lane. */
internal class Registry {
    /** Where one thread publishes the batch that it is in, innermost first. */
    class Lane(thread: Thread) {
        val owner: WeakReference<Thread> = WeakReference(thread)
        @Volatile
        var current: Batch? = null
            private set

        /** How many jobs of the executor this thread is in, as a helper; its own thread's only. */
        var inside = 0

        private var waitedNs = 0L
        private var threadNumber = 0L

        /** The system's number of the thread, asked once; by the thread itself. */
        fun threadNumber(clock: Clock): Long {
            if (threadNumber == 0L) threadNumber = clock.threadNumber()
            return threadNumber
        }

        /**
         * How long the thread waited for a processor since this was last called, at most, when it is `nowNs` in all. A
         * bound from above: what came between the last call and the batch is in it, and nothing is then learnt of
         * sleep.
         */
        fun waitedSince(nowNs: Long): Long {
            if (nowNs < 0) return 0
            val since = nowNs - waitedNs
            waitedNs = nowNs
            return since
        }

        /** Others look at this lane. Not at those of virtual threads, of which there may be a million. */
        var isSeen = false
        val isVirtual: Boolean = VirtualThreads.isVirtual(thread)

        /** Whether what this thread starts belongs to work that the executor has taken on. */
        val isNested: Boolean
            get() = inside > 0 || current != null

        /** A store that is seen before anything that this thread reads afterwards. */
        fun publish(batch: Batch?) {
            current = batch
        }

        /** A store that is seen after everything that this thread did before; nothing is promised for what follows. */
        fun withdraw(outer: Batch?): Unit = CURRENT.lazySet(this, outer)

        private companion object {
            val CURRENT: AtomicReferenceFieldUpdater<Lane, Batch> =
                AtomicReferenceFieldUpdater.newUpdater(Lane::class.java, Batch::class.java, "current")
        }
    }

    private val lanes = CopyOnWriteArrayList<Lane>()
    // A thread that outlives the executor keeps the value until its map of thread-locals is cleaned, maybe never: not
    // one
    // of our classes, which would keep all others of their loader. Who is in a batch holds its lane.
    private val mine = ThreadLocal<Reference<Lane>>()
    private val detached: MutableSet<Batch> = ConcurrentHashMap.newKeySet()

    fun lane(): Lane = mine.get()?.get() ?: newLane()

    private fun newLane(): Lane = Lane(Thread.currentThread()).also { mine.set(WeakReference(it)) }

    /** `batch`, of the current thread, is to be seen by all from now on. */
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

    /** A batch that no caller waits in. */
    fun addDetached(batch: Batch) {
        detached.add(batch)
    }

    fun removeDetached(batch: Batch) {
        detached.remove(batch)
    }

    /** Whether no thread is in a batch. */
    val isIdle: Boolean
        get() = lanes.none { it.current != null }

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
