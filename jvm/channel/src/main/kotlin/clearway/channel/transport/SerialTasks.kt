// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

import java.util.ArrayDeque
import java.util.concurrent.Executor
import java.util.concurrent.SynchronousQueue
import java.util.concurrent.ThreadFactory
import java.util.concurrent.ThreadPoolExecutor
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

/**
 * Runs tasks in order, one at a time, on threads of an executor. Each task happens before the next. A task's exception
 * goes to the thread's uncaught exception handler, and the next task runs.
 */
internal class SerialTasks(private val executor: Executor) {
    private val waiting = ArrayDeque<() -> Unit>()
    /** The run that the executor has accepted, whether it has begun or not. */
    private var running: Run? = null

    /** Calls [add], then [start]. */
    fun run(task: () -> Unit) {
        add(task)
        start(task)
    }

    /** Adds a task to the queue. The task runs after [start]. */
    fun add(task: () -> Unit) {
        synchronized(waiting) { waiting.add(task) }
    }

    /**
     * Starts to run the waiting tasks, which include `task`. Throws the executor's exceptions. In that case it removes
     * `task` unless the task has begun, and the other tasks wait until the next [start].
     */
    fun start(task: () -> Unit) {
        val run = Run()
        synchronized(waiting) {
            if (running != null || waiting.isEmpty()) return
            running = run
        }
        try {
            executor.execute(run)
        } catch (thrown: Throwable) {
            run.refused()
            synchronized(waiting) { waiting.remove(task) }
            throw thrown
        }
    }

    /**
     * Runs the waiting tasks. It begins once at most, even if the executor runs it twice, because two runs would run
     * two tasks at a time.
     */
    private inner class Run : Runnable {
        private var begun = false

        /** Called when the executor threw. The executor may still have begun this run. */
        fun refused() {
            synchronized(waiting) {
                if (begun) return
                begun = true
                running = null
            }
        }

        override fun run() {
            synchronized(waiting) {
                if (begun) return
                begun = true
            }
            while (true) {
                val task =
                    synchronized(waiting) {
                        val next = waiting.poll()
                        if (next == null) running = null
                        next
                    } ?: return
                guarded(task)
            }
        }
    }
}

/** Creates daemon threads. Each name has its own number. */
internal class DaemonThreads(private val prefix: String) : ThreadFactory {
    private val count = AtomicInteger()

    override fun newThread(task: Runnable): Thread {
        val thread = Thread(task, prefix + count.incrementAndGet())
        thread.isDaemon = true
        return thread
    }
}

/**
 * An executor of daemon threads, shared by the process. It has as many threads as there are tasks at once. Idle threads
 * end. Handlers run on it by default.
 */
internal object SharedThreads : Executor {
    /**
     * How long an idle thread lives. It is long enough for the next call of a burst, and short enough not to hold
     * stacks.
     */
    private const val KEPT_SECONDS = 10L

    private val threads =
        ThreadPoolExecutor(
            0,
            Int.MAX_VALUE,
            KEPT_SECONDS,
            TimeUnit.SECONDS,
            SynchronousQueue(),
            DaemonThreads("clearway-channel-"),
        )

    override fun execute(task: Runnable): Unit = threads.execute(task)
}
