// SPDX-License-Identifier: MIT OR Apache-2.0
@file:JvmName("AdaptiveSchedulers")

package clearway.executor.rxjava3

import clearway.executor.AdaptiveExecutor
import clearway.executor.Site
import clearway.executor.run.thrownByInterrupt
import clearway.executor.run.uncaught
import io.reactivex.rxjava3.core.Scheduler
import io.reactivex.rxjava3.disposables.Disposable
import io.reactivex.rxjava3.schedulers.Schedulers
import java.util.concurrent.ExecutorService
import java.util.concurrent.TimeUnit

/**
 * Returns a scheduler that runs work as tasks of `site`. The executor measures the work. It uses a CPU worker if the
 * work keeps a processor busy, and an elastic thread (an extra thread, for work that blocks) if the work blocks. So one
 * scheduler replaces both `computation()` and `io()`.
 *
 * The tasks of one `Scheduler.Worker` run in order and never at the same time, on any thread. The scheduling thread
 * runs none of the work. Delays hold no thread. Disposing of running work interrupts it, unless the work itself
 * disposes of it, as `take` and `firstOrError` do. Allocates two objects per scheduled job. After a shutdown of the
 * executor, each job goes to `RxJavaPlugins.onError` as a `RejectedExecutionException`, as with any executor.
 *
 * The scheduler uses only the executor's threads. `Scheduler.shutdown` does nothing; the executor's owner ends the
 * executor. Thread-safe.
 */
public fun AdaptiveExecutor.asScheduler(site: Site): Scheduler = AdaptiveScheduler(asExecutorService(site))

private class AdaptiveScheduler(executor: ExecutorService) : Scheduler() {
    private val direct = Schedulers.from(executor, true)
    private val ordered = Schedulers.from(executor, false)

    override fun createWorker(): Worker = OrderedWorker(ordered.createWorker())

    override fun scheduleDirect(run: Runnable): Disposable = direct.scheduleDirect(run)

    override fun scheduleDirect(run: Runnable, delay: Long, unit: TimeUnit): Disposable =
        direct.scheduleDirect(run, delay, unit)
}

/**
 * A worker whose disposal interrupts the task that runs, unless the task itself disposes of the worker. Operators such
 * as `take` do that, and the code after them must see no interrupt. RxJava's worker for executors interrupts in both
 * cases. `worker` runs the tasks in order and interrupts none.
 */
internal class OrderedWorker(private val worker: Scheduler.Worker) : Scheduler.Worker() {
    // A task stores itself here and then reads `isOver`. `dispose` stores `isOver` and then reads `running`. So at
    // least
    // one of the two sees the other's store.
    @Volatile private var running: Task? = null
    @Volatile private var isOver = false

    override fun schedule(run: Runnable, delay: Long, unit: TimeUnit): Disposable =
        track(run) { worker.schedule(it, delay, unit) }

    override fun schedule(run: Runnable): Disposable = track(run) { worker.schedule(it) }

    private inline fun track(run: Runnable, schedule: (Runnable) -> Disposable): Disposable {
        val task = Task(run)
        val handle = schedule(task)
        // RxJava compares with this object to see that work was rejected.
        if (handle === Disposable.disposed()) return handle
        task.scheduled(handle)
        return task
    }

    override fun now(unit: TimeUnit): Long = worker.now(unit)

    override fun dispose() {
        isOver = true
        worker.dispose()
        running?.dispose()
    }

    override fun isDisposed(): Boolean = isOver

    private inner class Task(private val act: Runnable) : Runnable, Disposable {
        private var runner: Thread? = null
        private var queued: Disposable? = null
        private var wasInterrupted = false
        @Volatile private var isDone = false

        override fun run() {
            synchronized(this) {
                if (isDone) return
                runner = Thread.currentThread()
            }
            running = this
            try {
                if (!isOver) act.run()
            } finally {
                running = null
                val interrupted =
                    synchronized(this) {
                        isDone = true
                        runner = null
                        wasInterrupted
                    }
                // The same thread may run the worker's next task.
                if (interrupted) Thread.interrupted()
            }
        }

        /** Sets the handle of the queued task. */
        fun scheduled(handle: Disposable) {
            val isLate =
                synchronized(this) {
                    queued = handle
                    isDone
                }
            if (isLate) handle.dispose()
        }

        override fun dispose() {
            var thrown: Throwable? = null
            val handle =
                synchronized(this) {
                    if (isDone) return
                    isDone = true
                    val thread = runner
                    if (thread != null && thread !== Thread.currentThread()) {
                        wasInterrupted = true
                        thrown = thrownByInterrupt(thread)
                    }
                    queued
                }
            thrown?.let(::uncaught)
            handle?.dispose()
        }

        override fun isDisposed(): Boolean = isDone
    }
}
