// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.OwnThread
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.ConcurrentLinkedDeque
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.LockSupport

/** Threads that run jobs. */
internal fun interface Threads {
    /**
     * Runs `job` on one of these threads, without waiting for it. Starts a thread if none is free and more are allowed.
     * Throws OutOfMemoryError, and drops the job, if the system cannot start a thread and no existing thread will run
     * the job.
     */
    fun offer(job: Runnable)

    /** Whether a further job would get a thread at once. May change at any time. */
    val hasRoom: Boolean
        get() = true

    /** Sets a function that is called for each job that finds, or may find, all threads busy. */
    fun whenAllBusy(onAllBusy: () -> Unit) {}

    /**
     * Samples the threads once, and moves the oldest job to `others` if the threads are stuck. There are two such
     * cases. No thread took the job since the last sample, and all threads wait, possibly for that job. Or no thread
     * took it for many samples. Moves no job if `others` have no thread for it. Returns whether jobs wait. Only one
     * thread at a time may call it.
     */
    fun relieve(others: Threads): Boolean = false

    /** Whether running jobs may keep others from running, so that [unpin] must be called while they run. */
    val mayGetStuck: Boolean
        get() = false

    /**
     * Checks once whether jobs can run, and adds threads for them if they cannot. Returns whether the check must go on
     * soon. Only one thread at a time may call it.
     */
    fun unpin(): Boolean = false

    /** Ends the threads after their present jobs. The caller offers no more jobs. */
    fun stop() {}
}

/**
 * A pool of up to `max` platform threads, which end after `stayNs` without a job. It holds the CPU workers, and on JDKs
 * before 24 also the elastic threads, which run work that blocks. The threads are daemons, so they do not keep the
 * process alive. The last thread to become free is woken first, because its cache is warm.
 */
internal class Workers(
    private val name: String,
    val max: Int,
    private val stayNs: Long,
    private val spinNs: Long,
    /** Starts a thread. Throws OutOfMemoryError if the system cannot start more. */
    private val start: (Thread) -> Unit = Thread::start,
) : Threads {
    private val jobs = ConcurrentLinkedQueue<Runnable>()
    private val free = ConcurrentLinkedDeque<Worker>()
    private val count = AtomicInteger()
    private val numbers = AtomicInteger()
    private val all: MutableSet<Worker> = ConcurrentHashMap.newKeySet()
    @Volatile private var onAllBusy: () -> Unit = {}
    @Volatile private var stopped = false
    private var head: Runnable? = null
    private var unchangedSamples = 0
    private var patience = PATIENCE_MIN

    override fun whenAllBusy(onAllBusy: () -> Unit) {
        this.onAllBusy = onAllBusy
    }

    override fun relieve(others: Threads): Boolean {
        val first = jobs.peek()
        val same = first != null && first === head
        head = first
        unchangedSamples = if (same) unchangedSamples + 1 else 0
        if (first == null) {
            patience = PATIENCE_MIN
            return false
        }
        // Waits longer if a thread is RUNNABLE, because it may make progress. A thread that hangs in a system call is
        // RUNNABLE, too, so this wait has a limit.
        val wait = same && all.all { it.state != Thread.State.RUNNABLE }
        if (!others.hasRoom || (!wait && unchangedSamples < patience)) return true
        if (!wait) patience = minOf(patience * 2, PATIENCE_MAX)
        unchangedSamples = 0
        if (jobs.remove(first))
            try {
                others.offer(first)
            } catch (thrown: OutOfMemoryError) {
                jobs.add(first)
                throw thrown
            }
        return true
    }

    override val hasRoom: Boolean
        get() = count.get() < max || !free.isEmpty()

    /** Number of existing threads. */
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
            // The maximum number of threads exists. Each of them looks for jobs after it has announced that it is free,
            // so one of them finds this job.
            if (now >= max) return onAllBusy()
            if (count.compareAndSet(now, now + 1)) break
        }
        val worker = OwnThread.detached { Worker("$name-${numbers.incrementAndGet()}") }
        all += worker
        try {
            start(worker)
        } catch (thrown: OutOfMemoryError) {
            all -= worker
            // If another thread exists, it will run the job. Otherwise the job would wait for ever, so the caller gets
            // the error.
            if (count.decrementAndGet() > 0) onAllBusy() else if (jobs.remove(job)) throw thrown
        }
    }

    private inner class Worker(name: String) : OwnThread(name) {
        @Volatile private var woken = false

        fun wake() {
            woken = true
            LockSupport.unpark(this)
        }

        override fun run() {
            var isCounted = true
            try {
                while (true) {
                    val job = jobs.poll() ?: spin()
                    if (job != null) runOne(job)
                    else if (!waitForMore()) {
                        isCounted = false
                        return
                    }
                }
            } finally {
                all -= this
                if (isCounted) giveUpPlace()
            }
        }

        /**
         * Lets another thread take this thread's place, after an error such as an OutOfMemoryError outside of a job. If
         * jobs wait, the watchdog moves them to other threads, unless the next job starts a thread before.
         */
        private fun giveUpPlace() {
            free.remove(this)
            count.decrementAndGet()
            if (!jobs.isEmpty()) onAllBusy()
        }

        private fun runOne(job: Runnable) {
            try {
                job.run()
            } catch (thrown: Throwable) {
                // A batch handles the exceptions of its items. An exception here comes from a single task, or it is an
                // error of the executor or the machine. Reports it and continues.
                uncaught(thrown)
            }
            interrupted() // An interrupt of the job must not reach the next one.
        }

        /**
         * Spins for a job. Returns null if none came. Batches often follow each other directly, and waking a thread
         * costs more than this spin.
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

        /**
         * Waits for a job. Returns false if the thread must end, because it was idle for `stayNs` or the pool was
         * stopped.
         */
        private fun waitForMore(): Boolean {
            woken = false
            free.addFirst(this)
            // Looks for jobs again: a job that came before this thread was in `free` woke no thread.
            if (jobs.isEmpty()) {
                val until = System.nanoTime() + stayNs
                while (!woken && !stopped) {
                    val left = until - System.nanoTime()
                    if (left <= 0) break
                    LockSupport.parkNanos(Workers::class.java, left)
                    interrupted() // A late interrupt must not turn the wait into a spin.
                }
            } else if (free.remove(this)) return true
            // Leaves `free` before it runs a job. Otherwise a new job could wake this busy thread instead of a free
            // one. If another thread has already removed this one, it has a job for this one.
            if (!free.remove(this) || woken) return true
            count.decrementAndGet()
            // Looks for jobs again: a job that came before the count fell may have found neither a free worker nor room
            // for another one.
            if (jobs.isEmpty()) return false
            if (count.incrementAndGet() <= max) return true
            count.decrementAndGet()
            return false
        }
    }

    private companion object {
        /**
         * Initial patience, in samples of the watchdog: 16 ms to 0.1 s. It is longer than nearly all tasks, and short
         * for a waiting caller.
         */
        const val PATIENCE_MIN = 16
        /**
         * Maximum patience, in samples: a minute or more. The patience doubles each time a job moves, so that tasks
         * that run for a second get six more threads, not sixty.
         */
        const val PATIENCE_MAX = 1 shl 16
    }
}

/**
 * Passes an exception that no caller waits for to the thread's uncaught-exception handler. Never throws, so that the
 * thread continues.
 */
internal fun uncaught(thrown: Throwable) {
    try {
        val thread = Thread.currentThread()
        thread.uncaughtExceptionHandler?.uncaughtException(thread, thrown)
    } catch (_: Throwable) {
        // The handler is foreign code, too.
    }
}

/**
 * Interrupts a thread. Returns what its class, which may be one of the app, throws. Pass it to [uncaught], without a
 * lock.
 */
internal fun thrownByInterrupt(thread: Thread): Throwable? =
    try {
        thread.interrupt()
        null
    } catch (thrown: Throwable) {
        thrown
    }

/**
 * Returns an exception that is safe to fail a future with. CompletableFuture calls `toString` of its failure; if that
 * call throws, dependent stages never complete. The result is therefore a replacement if `toString` throws.
 */
internal fun withSafeToString(thrown: Throwable): Throwable =
    try {
        thrown.toString()
        thrown
    } catch (_: Throwable) {
        RuntimeException("${thrown.javaClass.name}, whose own message throws")
    }
