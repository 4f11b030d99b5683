// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

import java.util.ArrayDeque
import java.util.concurrent.Executor
import java.util.concurrent.SynchronousQueue
import java.util.concurrent.ThreadFactory
import java.util.concurrent.ThreadPoolExecutor
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

/** Runs tasks in their order, one at a time, on threads of an executor; each happens before the next. */
internal class SerialTasks(private val executor: Executor) {
    private val waiting = ArrayDeque<() -> Unit>()
    private var running = false

    /** [add] and [start]. */
    fun run(task: () -> Unit) {
        add(task)
        start()
    }

    /** Takes its place; runs when [start] was called. */
    fun add(task: () -> Unit) {
        synchronized(waiting) { waiting.add(task) }
    }

    /** Runs what waits. Throws RejectedExecutionException where the executor does; what waits goes on waiting. */
    fun start() {
        synchronized(waiting) {
            if (running || waiting.isEmpty()) return
            running = true
        }
        try {
            executor.execute(::drain)
        } catch (rejected: RuntimeException) {
            synchronized(waiting) { running = false }
            throw rejected
        }
    }

    private fun drain() {
        while (true) {
            val task =
                synchronized(waiting) {
                    val next = waiting.poll()
                    if (next == null) running = false
                    next
                } ?: return
            task()
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
