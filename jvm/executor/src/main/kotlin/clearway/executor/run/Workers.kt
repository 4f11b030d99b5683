// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.ConcurrentLinkedDeque
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.ThreadFactory
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.LockSupport

/** Threads that can be asked to run something. */
internal interface Threads {
    /**
     * Runs `job` on one of these threads, which is started where none is free and more may be. Never blocks. Throws
     * OutOfMemoryError where the system starts no thread and there is none that would come to the job; then it is
     * forgotten.
     */
    fun offer(job: Runnable)

    /** `tell` is called with every job that finds all threads busy. */
    fun whenAllBusy(tell: () -> Unit) {}

    /**
     * One look: where all threads wait, and took nothing since the last look, the job that waits longest goes to
     * `others`: it may be what they wait for. Returns whether jobs wait. For one thread at a time.
     */
    fun relieve(others: Threads): Boolean = false

    /** There will be no more jobs: the threads end when they have done those that there are. */
    fun stop() {}
}

/** A fresh virtual thread for every job. */
internal class VirtualJobs(private val factory: ThreadFactory) : Threads {
    override fun offer(job: Runnable): Unit = factory.newThread(job).start()
}

/**
 * Up to `max` platform threads that stay for a while: CPU workers, and elastic threads where there are no virtual ones.
 * Daemons: they hold no process open. The last to become free is the first to be woken: its cache is warm.
 */
internal class Workers(
    private val name: String,
    private val max: Int,
    private val stayNs: Long,
    private val spinNs: Long,
    /** Starts a thread, or throws OutOfMemoryError where the system starts no more. */
    private val start: (Thread) -> Unit = Thread::start,
) : Threads {
    private val jobs = ConcurrentLinkedQueue<Runnable>()
    private val free = ConcurrentLinkedDeque<Worker>()
    private val count = AtomicInteger()
    private val numbers = AtomicInteger()
    private val all: MutableSet<Worker> = ConcurrentHashMap.newKeySet()
    @Volatile private var tell: () -> Unit = {}
    @Volatile private var stopped = false
    private var head: Runnable? = null
    private var looks = 0
    private var patience = LOOKS

    override fun whenAllBusy(tell: () -> Unit) {
        this.tell = tell
    }

    override fun relieve(others: Threads): Boolean {
        val first = jobs.peek()
        val same = first != null && first === head
        head = first
        looks = if (same) looks + 1 else 0
        if (first == null) {
            patience = LOOKS
            return false
        }
        // Who runs for long is left alone for a while; who hangs in the system looks the same and must not be for ever.
        val wait = same && all.all { it.state != Thread.State.RUNNABLE }
        if (!wait && looks < patience) return true
        if (!wait) patience = minOf(patience * 2, PATIENCE_MAX)
        looks = 0
        if (jobs.remove(first))
            try {
                others.offer(first)
            } catch (thrown: OutOfMemoryError) {
                jobs.add(first)
                throw thrown
            }
        return true
    }

    /** How many threads there are now. */
    val size: Int
        get() = count.get()

    override fun offer(job: Runnable) {
        jobs.add(job)
        val worker = free.pollFirst()
        if (worker != null) worker.wake() else startIfFewer(job)
    }

    override fun stop() {
        stopped = true
        while (true) free.pollFirst()?.wake() ?: return
    }

    private fun startIfFewer(job: Runnable) {
        while (true) {
            val now = count.get()
            // All are busy, or about to look once more: each looks for jobs after it said that it is free.
            if (now >= max) return tell()
            if (count.compareAndSet(now, now + 1)) break
        }
        val worker = Worker("$name-${numbers.incrementAndGet()}")
        all += worker
        try {
            start(worker)
        } catch (thrown: OutOfMemoryError) {
            all -= worker
            // Another thread comes to the job; without one it would wait for ever.
            if (count.decrementAndGet() > 0) tell() else if (jobs.remove(job)) throw thrown
        }
    }

    private inner class Worker(name: String) : Thread(name) {
        @Volatile private var woken = false

        init {
            isDaemon = true
        }

        fun wake() {
            woken = true
            LockSupport.unpark(this)
        }

        override fun run() {
            try {
                while (true) {
                    val job = jobs.poll() ?: spin()
                    if (job != null) runOne(job) else if (!waitForMore()) return
                }
            } finally {
                all -= this
            }
        }

        private fun runOne(job: Runnable) {
            try {
                job.run()
            } catch (thrown: Throwable) {
                // Jobs keep what their items throw; what comes here is ours or the machine's. Say so and go on.
                uncaught(thrown)
            }
            interrupted() // An interrupt was meant for the job.
        }

        /**
         * Batches often come one right after another, and waking a thread costs more than waiting awake for this long.
         */
        private fun spin(): Runnable? {
            if (spinNs <= 0) return null
            val until = System.nanoTime() + spinNs
            while (System.nanoTime() < until) {
                onSpinWait()
                return jobs.poll() ?: continue
            }
            return null
        }

        /** False when the thread has stayed long enough, and ends. */
        private fun waitForMore(): Boolean {
            woken = false
            free.addFirst(this)
            // A job that came before this worker was in `free` woke no worker.
            if (jobs.isEmpty()) {
                val until = System.nanoTime() + stayNs
                while (!woken && !stopped) {
                    val left = until - System.nanoTime()
                    if (left <= 0) break
                    LockSupport.parkNanos(Workers::class.java, left)
                    interrupted() // A late interrupt must not turn the wait into a spin.
                }
            } else if (free.remove(this)) return true
            // Always out of `free` before anything runs: a busy thread in there would be woken in place of a free one.
            if (!free.remove(this) || woken) return true // By another's hand: it wakes us for a job.
            count.decrementAndGet()
            // A job that came meanwhile found neither a free worker nor room for one more.
            if (jobs.isEmpty()) return false
            if (count.incrementAndGet() <= max) return true
            count.decrementAndGet()
            return false
        }
    }

    private companion object {
        /** Some 16 ms to 0.1 s of the watchdog's: longer than nearly all tasks, short for who waits. */
        const val LOOKS = 16
        /** A minute or more. Doubled until then: tasks that run for a second get six more threads, and not sixty. */
        const val PATIENCE_MAX = 1 shl 16
    }
}
