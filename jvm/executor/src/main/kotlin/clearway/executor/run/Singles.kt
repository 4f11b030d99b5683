// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.Site
import clearway.executor.host.Clock
import clearway.executor.model.Observation
import clearway.executor.model.Place
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.Future
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.atomic.AtomicInteger

/** Single tasks: each goes to a CPU worker, or to an elastic thread if it may sleep or is unknown. */
internal class Singles(private val runner: Runner, private val clock: Clock) {
    private val all: MutableSet<Single> = ConcurrentHashMap.newKeySet()
    private val lines = ConcurrentHashMap<Site, Line>()

    fun execute(site: Site, task: Runnable): Unit = start(single(site, task, null))

    /**
     * Registers a task for [start], which must follow. Throws RejectedExecutionException after a shutdown, even from a
     * running task: one that starts itself again and again would never end.
     */
    fun single(site: Site, task: Runnable, ended: ((Single) -> Unit)?): Single {
        val single = Single(site, task, ended)
        if (!runner.lifecycle.enter()) throw RejectedExecutionException(SHUT)
        all += single
        return single
    }

    /**
     * Starts a registered task. If it throws RejectedExecutionException, the task has ended: it did not begin, and
     * [stop] did not return it.
     */
    fun start(single: Single) {
        // Pairs with [stop], which sets `stopped` and then lists all tasks: either the list contained this task, or
        // `stopped` is visible here.
        if (stopped && single.drop()) throw RejectedExecutionException(SHUT)
        try {
            val lock = single.site.lock
            if (lock != null) lines.computeIfAbsent(single.site) { Line(it, lock) }.add(single)
            else threadsFor(single.site).offer(single)
        } catch (_: OutOfMemoryError) {
            single.lose()
        }
        if (single.isLost) throw RejectedExecutionException("the system starts no thread")
    }

    @Volatile private var stopped = false

    /** Drops the tasks that have not begun and interrupts the others. Returns the dropped ones. */
    fun stop(): List<Runnable> {
        stopped = true
        return stop(all).map { it.task }
    }

    private fun threadsFor(site: Site) = if (site.needsElastic) runner.elastic else runner.workers

    /** One task: waits, runs, ends; or is dropped before it begins. */
    inner class Single(val site: Site, val task: Runnable, private val ended: ((Single) -> Unit)?) : Runnable {
        private val state = AtomicInteger(WAITS)
        private val context = Context(site.options.locals)
        @Volatile private var me: Participant? = null

        override fun run() {
            val mine = Participant(Thread.currentThread())
            me = mine
            if (!state.compareAndSet(WAITS, RUNS)) return
            val lane = runner.registry.lane()
            lane.inside++
            try {
                runInContext()
            } finally {
                lane.inside--
                mine.leave()
                Thread.interrupted()
                end()
            }
        }

        private fun runInContext() {
            val scope =
                try {
                    context.enter()
                } catch (thrown: Throwable) {
                    // A thread-local's own code threw: the task does not run, and its future fails.
                    (task as? Future<*>)?.cancel(false)
                    throw thrown
                }
            val looked = site.looksAtSingle()
            val cpuNs = if (looked) clock.threadCpuNs() else -1
            val startNs = clock.nanoTime()
            try {
                task.run()
            } finally {
                val wallNs = clock.nanoTime() - startNs
                if (looked) learn(wallNs, if (cpuNs < 0) -1 else clock.threadCpuNs() - cpuNs)
                else site.overlooked(wallNs)
                context.leave(scope)
            }
        }

        private fun learn(wallNs: Long, cpuNs: Long) {
            val measured = if (cpuNs >= 0) 1 else 0
            // A virtual thread has no CPU clock, so sleep would show only in the task's length, which is too little
            // evidence. The site stays on elastic threads, where no other task waits for it.
            val slept = measured == 0 && site.needsElastic
            site.observeSingle(
                Observation(
                    Place.CPU,
                    1,
                    wallNs,
                    wallNs,
                    measured,
                    if (measured > 0) wallNs else 0,
                    cpuNs,
                    slept = slept,
                )
            )
        }

        /** Drops the task. Returns true if it had not begun, and now never will. */
        fun drop(): Boolean = endAs(DROPPED)

        /** Interrupts the task if it runs. */
        fun interrupt() {
            if (state.get() == RUNS) me?.interrupt()
        }

        /** Ends a task for which no thread can be had. Otherwise as [drop]. */
        fun lose(): Boolean = endAs(LOST)

        private fun endAs(how: Int): Boolean {
            if (!state.compareAndSet(WAITS, how)) return false
            end()
            return true
        }

        val isLost: Boolean
            get() = state.get() == LOST

        private fun end() {
            all -= this
            ended?.invoke(this)
            runner.lifecycle.leave()
        }
    }

    /**
     * The tasks of an ordered site: one after the other, on any thread, and never at the same time as a batch of it.
     */
    private inner class Line(private val site: Site, private val lock: SiteLock) : Runnable {
        private val waiting = ConcurrentLinkedQueue<Single>()
        private val count = AtomicInteger()
        private val waiter = SiteLock.Waiter(::begin)

        fun add(single: Single) {
            waiting += single
            if (count.getAndIncrement() == 0) lock.acquire(waiter)
        }

        /** The line has the lock. Runs on the thread that released it, which must not be held up. */
        private fun begin() {
            try {
                threadsFor(site).offer(this)
            } catch (_: OutOfMemoryError) {
                lose()
            }
        }

        /**
         * Handles the lack of a thread. The task that is being submitted is refused; waiting ones are cancelled,
         * because they would wait for ever.
         */
        private fun lose() {
            var gone = 0
            while (true) {
                val single = waiting.poll() ?: break
                gone++
                if (single.lose()) (single.task as? Future<*>)?.cancel(false)
            }
            lock.release(waiter)
            if (count.addAndGet(-gone) > 0) lock.acquire(waiter)
        }

        override fun run() {
            var served = 0
            waiter.owner = Thread.currentThread()
            while (true) {
                try {
                    waiting.poll()?.run()
                } catch (thrown: Throwable) {
                    uncaught(thrown)
                }
                // Others wait for the lock and for this thread as well: the line waits again, behind them.
                if (count.get() == 1 || ++served >= AT_A_TIME) {
                    lock.release(waiter)
                    if (count.decrementAndGet() > 0) lock.acquire(waiter)
                    return
                }
                count.decrementAndGet()
            }
        }
    }

    companion object {
        /**
         * Drops the tasks that have not begun, then interrupts the others. In the other order, a task could begin
         * before it is dropped.
         */
        fun stop(singles: Collection<Single>): List<Single> {
            val dropped = singles.filter { it.drop() }
            for (single in singles) single.interrupt()
            return dropped
        }

        private const val SHUT = "the executor is shut down"
        private const val WAITS = 0
        private const val RUNS = 1
        private const val DROPPED = 2
        private const val LOST = 3
        /**
         * Tasks per turn. Rare enough that the hand-over costs little, frequent enough for fairness: 64 tasks of 1 us
         * to one hand-over of 10 us.
         */
        private const val AT_A_TIME = 64
    }
}
