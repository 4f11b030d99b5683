// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.Site
import clearway.executor.host.Clock
import clearway.executor.host.VirtualThreads
import java.lang.ref.Reference
import java.lang.ref.WeakReference
import java.util.ArrayDeque
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater

/**
 * Lists the running batches for the watchdog and for `shutdownNow`. A thread publishes its batch with one store in its
 * lane.
 */
internal class Registry {
    /**
     * The slot where one thread publishes its batch. `current` is the innermost batch, and [Batch.outer] leads to the
     * others.
     */
    class Lane(thread: Thread) {
        val owner: WeakReference<Thread> = WeakReference(thread)
        @Volatile
        var current: Batch? = null
            private set

        /**
         * Number of the executor's jobs that this thread runs: tasks, and batches that it helps with. Only the thread
         * itself uses it.
         */
        var inside = 0

        /** The site of the single task that this thread runs. Null if it runs none. Only the thread itself uses it. */
        var task: Site? = null

        private var waitedNs = 0L
        private var threadNumber = 0L

        /**
         * Returns the system's number of the thread, and keeps it after the first call. Called by the thread itself.
         */
        fun threadNumber(clock: Clock): Long {
            if (threadNumber == 0L) threadNumber = clock.threadNumber()
            return threadNumber
        }

        /**
         * Returns how long, in ns, the thread waited for a processor since the last call. `nowNs` is the thread's total
         * wait so far; a negative total is unknown and gives 0. The result may include waits before the present batch.
         * The batch's measured sleep may then be too short.
         */
        fun waitedSince(nowNs: Long): Long {
            if (nowNs < 0) return 0
            val since = nowNs - waitedNs
            waitedNs = nowNs
            return since
        }

        /**
         * Whether other threads read this lane. Always false for virtual threads, because there may be a million of
         * them.
         */
        var isSeen = false
        val isVirtual: Boolean = VirtualThreads.isVirtual(thread)

        /**
         * Whether this thread runs work that the executor has accepted. A batch that the thread starts belongs to that
         * work.
         */
        val isNested: Boolean
            get() = inside > 0 || current != null

        /**
         * Publishes a batch with a volatile store. The store is ordered before later reads of this thread. It pairs
         * with the reads of `current` in [running] and [isIdle].
         */
        fun publish(batch: Batch?) {
            current = batch
        }

        /**
         * Withdraws a batch with a release store. The store is ordered after everything that this thread did before. It
         * is not ordered before later actions of this thread.
         */
        fun withdraw(outer: Batch?): Unit = CURRENT.lazySet(this, outer)

        private companion object {
            val CURRENT: AtomicReferenceFieldUpdater<Lane, Batch> =
                AtomicReferenceFieldUpdater.newUpdater(Lane::class.java, Batch::class.java, "current")
        }
    }

    private val lanes = CopyOnWriteArrayList<Lane>()
    // A thread that outlives the executor may keep this value for ever in its map of thread-locals. So the value is an
    // object of a JDK class: an object of our classes would keep their class loader alive. The stack of a thread in a
    // batch keeps the thread's lane alive.
    private val mine = ThreadLocal<Reference<Lane>>()
    private val detached: MutableSet<Batch> = ConcurrentHashMap.newKeySet()

    fun lane(): Lane = mine.get()?.get() ?: newLane()

    private fun newLane(): Lane = Lane(Thread.currentThread()).also { mine.set(WeakReference(it)) }

    /** Publishes a batch of the current thread, so that other threads find it. */
    fun publish(lane: Lane, batch: Batch) {
        batch.outer = lane.current
        if (lane.isVirtual) detached.add(batch) else see(lane)
        lane.publish(batch)
    }

    fun see(lane: Lane) {
        if (lane.isSeen) return
        lane.isSeen = true
        // A ForkJoinPool erases the thread-locals of a worker that was idle, so the worker's older lane is forgotten.
        val owner = Thread.currentThread()
        lanes.removeIf { it.current == null && it.owner.get() === owner }
        lanes += lane
    }

    fun withdraw(lane: Lane, batch: Batch) {
        if (lane.isVirtual) detached.remove(batch)
        lane.publish(batch.outer)
    }

    /** Adds an asynchronous batch, which is in no lane. */
    fun addDetached(batch: Batch) {
        detached.add(batch)
    }

    fun removeDetached(batch: Batch) {
        detached.remove(batch)
    }

    /** Whether no lane has a batch. */
    val isIdle: Boolean
        get() = lanes.none { it.current != null }

    /**
     * Returns every batch that was published before the call and is not withdrawn. Drops the lanes of threads that have
     * ended.
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

/**
 * The fair lock of an ordered site (a kind of work whose items must not run at the same time). Batches and tasks of the
 * site get it one at a time, in the order in which they ask. No function blocks: a [Waiter] is called when it gets the
 * lock. Any thread may ask for the lock and release it.
 */
internal class SiteLock {
    /**
     * A request for the lock. `go` is called once, when the request gets the lock. It runs on the thread that released
     * the lock, or on the thread that asked. It returns quickly, and does not throw.
     */
    class Waiter(private val go: () -> Unit) {
        @Volatile
        var granted = false
            private set

        /** The thread that runs the items. Work of the same site that this thread starts needs no further lock. */
        @Volatile var owner: Thread? = null

        internal fun grant() {
            granted = true
            go()
        }
    }

    private val waiting = ArrayDeque<Waiter>()
    private var current: Waiter? = null

    /** Whether the current thread runs an item that holds the lock. */
    val isHeldByCurrentThread: Boolean
        get() = synchronized(this) { current?.owner === Thread.currentThread() }

    /** Asks for the lock. Calls the waiter at once if the lock is free, and otherwise later. */
    fun acquire(waiter: Waiter) {
        synchronized(this) {
            if (current != null) {
                waiting.add(waiter)
                return
            }
            current = waiter
        }
        waiter.grant()
    }

    /**
     * Passes the lock to the next waiter, or withdraws a request that does not have the lock. A second call does
     * nothing.
     */
    fun release(waiter: Waiter) {
        val next =
            synchronized(this) {
                if (current !== waiter) {
                    waiting.remove(waiter)
                    return
                }
                waiter.owner = null
                waiting.poll().also { current = it }
            }
        next?.grant()
    }
}
