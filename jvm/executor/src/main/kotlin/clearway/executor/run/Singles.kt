// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.Site
import clearway.executor.host.Clock
import clearway.executor.model.Observation
import clearway.executor.model.Place
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.atomic.AtomicInteger

/** Tasks given one by one: each to a CPU worker, or to an elastic thread where it may sleep or nobody knows. */
internal class Singles(private val runner: Runner, private val clock: Clock) {
    private val all: MutableSet<Single> = ConcurrentHashMap.newKeySet()
    private val lines = ConcurrentHashMap<Site, Line>()

    fun execute(site: Site, task: Runnable): Unit = start(single(site, task, null))

    fun single(site: Site, task: Runnable, ended: ((Single) -> Unit)?): Single = Single(site, task, ended)

    fun start(single: Single) {
        val nested = runner.registry.lane().isNested
        if (!runner.lifecycle.enter()) {
            // Work that has begun may still start more, as in a batch; else it could not come to its end.
            if (!nested || stopped) throw RejectedExecutionException("the executor is shut down")
            runner.lifecycle.enterNested()
        }
        all += single
        if (stopped && single.stop()) return
        if (single.site.options.ordered) lines.computeIfAbsent(single.site) { Line(it) }.add(single)
        else threadsFor(single.site).offer(single)
    }

    @Volatile private var stopped = false

    /** Drops what has not begun and interrupts what has. Returns what was dropped. */
    fun stop(): List<Runnable> {
        stopped = true
        return all.filter { it.stop() }.map { it.task }
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
            val scope = context.enter()
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
                lane.inside--
                mine.leave()
                Thread.interrupted()
                end()
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

        /** True when it had not begun, and now never will; interrupts it when it runs. */
        fun stop(): Boolean {
            if (state.compareAndSet(WAITS, DROPPED)) {
                end()
                return true
            }
            me?.interrupt()
            return false
        }

        private fun end() {
            all -= this
            ended?.invoke(this)
            runner.lifecycle.leave()
        }
    }

    /** The tasks of an ordered site: one after another, each on whichever thread. */
    private inner class Line(private val site: Site) : Runnable {
        private val waiting = ConcurrentLinkedQueue<Single>()
        private val count = AtomicInteger()

        fun add(single: Single) {
            waiting += single
            if (count.getAndIncrement() == 0) threadsFor(site).offer(this)
        }

        override fun run() {
            var served = 0
            do {
                try {
                    waiting.poll()?.run()
                } catch (thrown: Throwable) {
                    val thread = Thread.currentThread()
                    thread.uncaughtExceptionHandler?.uncaughtException(thread, thrown)
                }
                val more = count.decrementAndGet() > 0
                // Others wait for this thread as well: the line stands again at the end of theirs.
                if (more && ++served >= AT_A_TIME) {
                    threadsFor(site).offer(this)
                    return
                }
            } while (more)
        }
    }

    private companion object {
        const val WAITS = 0
        const val RUNS = 1
        const val DROPPED = 2
        /** As often as a fair share asks, as seldom as the hand-over should not show: 64 of 1 us to one of 10. */
        const val AT_A_TIME = 64
    }
}
