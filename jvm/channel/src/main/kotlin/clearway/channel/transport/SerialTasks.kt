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
 * Runs tasks in their order, one at a time, on threads of an executor; each happens before the next. What a task throws
 * goes to the thread's handler of uncaught errors, and the next task runs.
 */
internal class SerialTasks(private val executor: Executor) {
    private val waiting = ArrayDeque<() -> Unit>()
    /** The run that the executor has, whether it has begun or not. */
    private var running: Run? = null

    /** [add] and [start]. */
    fun run(task: () -> Unit) {
        add(task)
        start(task)
    }

    /** Puts a task in line. It runs after [start]. */
    fun add(task: () -> Unit) {
        synchronized(waiting) { waiting.add(task) }
    }

    /**
     * Runs what waits, `task` among it. Throws what the executor throws; then `task` is taken out, unless it has begun,
     * and what else waits does so until the next [start].
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

    /** Begins once at most, whatever the executor does with it: two at a time would not be one at a time. */
    private inner class Run : Runnable {
        private var begun = false

        /** The executor threw. It may have begun to run this all the same. */
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

/** Names daemon threads by a number each. */
internal class DaemonThreads(private val prefix: String) : ThreadFactory {
    private val count = AtomicInteger()

    override fun newThread(task: Runnable): Thread {
        val thread = Thread(task, prefix + count.incrementAndGet())
        thread.isDaemon = true
        return thread
    }
}

/**
 * Daemon threads of the process, as many as there is work for at once; idle ones end. Handlers run here unless told
 * where.
 */
internal object SharedThreads : Executor {
    /** Long enough to serve a burst's next call, short enough not to hold stacks. */
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
