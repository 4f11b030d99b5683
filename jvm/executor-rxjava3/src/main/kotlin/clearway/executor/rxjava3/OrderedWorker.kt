// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.rxjava3

import io.reactivex.rxjava3.core.Scheduler
import io.reactivex.rxjava3.disposables.Disposable
import java.util.concurrent.TimeUnit

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
            val handle =
                synchronized(this) {
                    if (isDone) return
                    isDone = true
                    val thread = runner
                    if (thread != null && thread !== Thread.currentThread()) {
                        wasInterrupted = true
                        thread.interrupt()
                    }
                    queued
                }
            handle?.dispose()
        }

        override fun isDisposed(): Boolean = isDone
    }
}
