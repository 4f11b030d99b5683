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
     * A task that has a place, for [start], which is to follow. Throws RejectedExecutionException after a shutdown,
     * also to a task that runs: one that starts itself again and again would have no end.
     */
    fun single(site: Site, task: Runnable, ended: ((Single) -> Unit)?): Single {
        val single = Single(site, task, ended)
        if (!runner.lifecycle.enter()) throw RejectedExecutionException(SHUT)
        all += single
        return single
    }

    /** Throws RejectedExecutionException, and then the task has ended: it was neither begun nor returned by [stop]. */
    fun start(single: Single) {
        // Set before all tasks were listed: either they had this one among them, or it is seen here.
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

    /** Drops what has not begun and interrupts what has. Returns what was dropped. */
    fun stop(): List<Runnable> {
        stopped = true
        return stop(all).map { it.task }
    }

    private fun threadsFor(site: Site) = if (site.needsElastic) runner.elastic else runner.workers

    /** One task: waits, runs, ends; or is dropped before it began. */
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
            // On a virtual thread there is no CPU clock: what sleeps is then told by its length alone, which is too
            // little; the site stays with elastic threads, where nothing else waits for it.
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

        /** True when it had not begun, and now never will. */
        fun drop(): Boolean = endAs(DROPPED)

        /** Interrupts it when it runs. */
        fun interrupt() {
            if (state.get() == RUNS) me?.interrupt()
        }

        /** As [drop], for what no thread comes to. */
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
         * No thread comes: who gives a task now is refused, and what waited already is cancelled, or would for ever.
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
        /** Drops what has not begun, then interrupts what has: else the next would begin before it is dropped. */
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
        /** As often as a fair share asks, as seldom as the hand-over should not show: 64 of 1 us to one of 10. */
        private const val AT_A_TIME = 64
    }
}
