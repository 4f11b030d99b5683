// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.Site
import clearway.executor.host.Clock
import clearway.executor.model.Observation
import clearway.executor.model.Placement
import java.util.concurrent.Callable
import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.Future
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicLong

/**
 * Runs single tasks. A task runs on a CPU worker, or on an elastic thread (an extra thread, for work that blocks) if
 * its site may block or is unknown.
 */
internal class Singles(private val runner: Runner, private val clock: Clock) {
    private val all: MutableSet<Single> = ConcurrentHashMap.newKeySet()
    val counts = TaskCounts()
    private val orderedQueues = ConcurrentHashMap<Site, OrderedQueue>()
    private val numbers = AtomicLong()

    fun execute(site: Site, task: Runnable): Unit = start(single(site, task, null))

    /** Runs a task, and completes the returned future when the task has ended or was dropped. */
    fun <R> call(site: Site, call: Callable<R>): CompletableFuture<R> {
        val future = TaskFuture(call)
        val single = single(site, future, null)
        future.single = single
        start(single)
        return future
    }

    /**
     * Registers a task. The caller must then call [start]. Throws RejectedExecutionException after a shutdown, also in
     * a running task: a task that submits itself again and again would never end.
     */
    fun single(site: Site, task: Runnable, ended: ((Single) -> Unit)?): Single {
        val single = Single(site, task, ended)
        if (!runner.lifecycle.enter()) throw RejectedExecutionException(SHUT)
        all += single
        counts.submitted.increment()
        return single
    }

    /**
     * Starts a registered task. Throws RejectedExecutionException if the task cannot start. The task has then ended
     * without running, and [stop] did not return it.
     */
    fun start(single: Single) {
        // Pairs with [stop], which sets `stopped` and then lists all tasks. Either that list contains this task, or
        // this thread sees `stopped`.
        if (stopped && single.drop()) throw RejectedExecutionException(SHUT)
        try {
            val lock = single.site.lock
            if (lock != null) orderedQueues.computeIfAbsent(single.site) { OrderedQueue(it, lock) }.add(single)
            else threadsFor(single.site).offer(single)
        } catch (_: OutOfMemoryError) {
            single.lose()
        }
        if (single.isLost) throw RejectedExecutionException("the system starts no thread")
    }

    @Volatile private var stopped = false

    /** Drops the tasks that have not begun, and interrupts the others. Returns the dropped ones: see [settled]. */
    fun stop(): List<Single> {
        stopped = true
        return stop(all)
    }

    private fun threadsFor(site: Site) = if (site.needsElastic) runner.elastic else runner.workers

    /** One task. It waits, runs and ends, or is dropped before it begins. */
    inner class Single(val site: Site, val task: Runnable, private val ended: ((Single) -> Unit)?) : Runnable {
        private val state = AtomicInteger(WAITS)
        private val context = Context(site.options.locals)
        /**
         * Position in the order of submission. 0 for a task of the executor itself whose site has no order: counting
         * all tasks would cost an atomic operation on a field that all threads share.
         */
        val number: Long = if (site.lock == null && ended == null) 0 else numbers.incrementAndGet()
        @Volatile private var me: Participant? = null

        override fun run() {
            try {
                runTask()
            } finally {
                if (settles) settle()
            }
        }

        /** Runs the task if it was not dropped. The caller then calls [settle] if [settles] is true. */
        fun runTask() {
            val mine = Participant(Thread.currentThread())
            me = mine
            if (!state.compareAndSet(WAITS, RUNS)) return
            counts.begun.increment()
            val lane = runner.registry.lane()
            val outer = lane.task
            lane.inside++
            lane.task = site
            try {
                runInContext()
            } finally {
                lane.task = outer
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
                    // Code of a thread-local threw. The task does not run, and its future is cancelled.
                    (task as? Future<*>)?.cancel(false)
                    throw thrown
                }
            val isMeasured = site.measuresNextSingle()
            val cpuNs = if (isMeasured) clock.threadCpuNs() else -1
            val startNs = clock.nanoTime()
            try {
                task.run()
            } finally {
                try {
                    val wallNs = clock.nanoTime() - startNs
                    if (isMeasured) learn(wallNs, if (cpuNs < 0) -1 else clock.threadCpuNs() - cpuNs)
                    else site.reportUnmeasured(wallNs)
                } finally {
                    context.leave(scope)
                }
            }
        }

        private fun learn(wallNs: Long, cpuNs: Long) {
            val measured = if (cpuNs >= 0) 1 else 0
            // A virtual thread has no CPU clock, so only the task's length could show sleep. That is too little
            // evidence. The site stays on elastic threads, where no other task waits for this one.
            val slept = measured == 0 && site.needsElastic
            site.observeSingle(
                Observation(
                    Placement.CPU,
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

        /**
         * Drops the task if it has not begun; it then never begins. Returns whether it was dropped. The caller then
         * calls [settle].
         */
        fun drop(): Boolean = endAs(DROPPED)

        /** Interrupts the task if it runs. */
        fun interrupt() {
            if (state.get() == RUNS) me?.interrupt()
        }

        /** Ends the task if it has not begun, because no thread can run it. Returns whether it was ended. */
        fun lose(): Boolean = endAs(LOST)

        private fun endAs(how: Int): Boolean {
            if (!state.compareAndSet(WAITS, how)) return false
            counts.dropped.increment()
            end()
            return true
        }

        val isLost: Boolean
            get() = state.get() == LOST

        private fun end() {
            all -= this
            if (state.get() == RUNS) counts.ended.increment()
            ended?.invoke(this)
            runner.lifecycle.leave()
        }

        /** Whether the task was run, and has a future. */
        val settles: Boolean
            get() = task is TaskFuture<*> && state.get() == RUNS

        /**
         * Completes the task's future, if it has one. Call it last, after the task has ended, without a lock: a stage
         * that depends on the future may wait for other tasks or for the executor's end.
         */
        fun settle() {
            (task as? TaskFuture<*>)?.settle()
        }
    }

    /**
     * The queue of an ordered site's tasks. Runs the tasks one after the other, on any thread, and never at the same
     * time as a batch of the site.
     */
    private inner class OrderedQueue(private val site: Site, private val lock: SiteLock) : Runnable {
        private val waiting = ConcurrentLinkedQueue<Single>()
        private val count = AtomicInteger()
        private val waiter = SiteLock.Waiter(::begin)

        fun add(single: Single) {
            waiting += single
            if (count.getAndIncrement() == 0) lock.acquire(waiter)
        }

        /**
         * Asks a thread to run the queue, which now has the site's lock. Runs on the thread that released the lock or
         * asked for it, so it returns quickly.
         */
        private fun begin() {
            try {
                threadsFor(site).offer(this)
            } catch (_: OutOfMemoryError) {
                lose()
            }
        }

        /**
         * Ends all waiting tasks, because no thread can run them. [start] refuses the task that is being submitted. The
         * futures of the tasks are cancelled, because their callers would otherwise wait for ever.
         */
        private fun lose() {
            val lost = ArrayList<Single>()
            var ended = 0
            while (true) {
                val single = waiting.poll() ?: break
                ended++
                if (single.lose()) lost += single
            }
            endTurn(ended)
            for (single in lost) {
                (single.task as? Future<*>)?.cancel(false)
                single.settle()
            }
        }

        override fun run() {
            var served = 0
            waiter.owner = Thread.currentThread()
            while (true) {
                val single = waiting.poll()
                try {
                    single?.runTask()
                } catch (thrown: Throwable) {
                    uncaught(thrown)
                }
                // A stage that depends on the task's future may wait for other work of the site. So the turn ends
                // before the future completes.
                val settles = single?.settles == true
                // Other work may wait for the lock or for this thread. After its turn, the queue asks for the lock
                // again. That work then comes first.
                if (settles || count.get() == 1 || ++served >= AT_A_TIME) {
                    endTurn(1)
                    if (settles) single?.settle()
                    return
                }
                count.decrementAndGet()
            }
        }

        /** Passes the site's lock on, after `ended` tasks. Asks for the lock again if more tasks wait. */
        private fun endTurn(ended: Int) {
            lock.release(waiter)
            if (count.addAndGet(-ended) > 0) lock.acquire(waiter)
        }
    }

    companion object {
        /** Name of the class whose frame runs a task, on the stack of the task's thread. */
        val TASK_CLASS: String = Single::class.java.name

        /**
         * Drops the tasks that have not begun, then interrupts the others. In the other order, a task could begin
         * before it is dropped. Returns the dropped ones, by their numbers. The caller passes them to [settled] when it
         * has stopped all other work, too.
         */
        fun stop(singles: Collection<Single>): List<Single> {
            val dropped = singles.filter { it.drop() }.sortedBy { it.number }
            for (single in singles) single.interrupt()
            return dropped
        }

        /** Completes the futures of dropped tasks. Returns the tasks. */
        fun settled(dropped: List<Single>): MutableList<Runnable> {
            for (single in dropped) single.settle()
            return dropped.mapTo(ArrayList()) { it.task }
        }

        private const val SHUT = "the executor is shut down"
        private const val WAITS = 0
        private const val RUNS = 1
        private const val DROPPED = 2
        private const val LOST = 3
        /**
         * Maximum number of tasks that a queue runs per turn. It makes hand-overs cheap (10 us after 64 tasks of 1 us
         * each) and lets other work run soon.
         */
        private const val AT_A_TIME = 64
    }
}

/**
 * A single task with its future. `cancel` drops the task, or interrupts it if it runs. The future completes when the
 * task does not run any more. If the task was dropped, the future is cancelled.
 */
internal class TaskFuture<R>(private val call: Callable<R>) : CompletableFuture<R>(), Runnable {
    @Volatile var single: Singles.Single? = null
    private val decided = AtomicInteger(OPEN)
    private var ran = false
    private var value: R? = null
    private var failure: Throwable? = null

    override fun run() {
        try {
            value = call.call()
        } catch (thrown: Throwable) {
            failure = thrown
        }
        ran = true
    }

    /** Completes the future. Called once, when the task has run or was dropped, by the thread that ended it. */
    fun settle() {
        val isCancelled = !decided.compareAndSet(OPEN, SETTLED)
        val thrown = failure
        @Suppress("UNCHECKED_CAST") // `value` is the result of `call`, if the call has returned.
        when {
            isCancelled || !ran -> completeExceptionally(CancellationException("cancelled"))
            thrown != null -> completeExceptionally(withSafeToString(thrown))
            else -> complete(value as R)
        }
    }

    override fun cancel(mayInterruptIfRunning: Boolean): Boolean {
        if (isDone) return isCancelled
        // After its task has run, the future is about to complete with the task's outcome.
        if (!decided.compareAndSet(OPEN, CANCELLED) && decided.get() == SETTLED) return !ran
        val mine = single
        if (mine != null) {
            if (mine.drop()) settle() else if (mayInterruptIfRunning) mine.interrupt()
        }
        return !isDone || isCancelled
    }

    private companion object {
        const val OPEN = 0
        const val SETTLED = 1
        const val CANCELLED = 2
    }
}
