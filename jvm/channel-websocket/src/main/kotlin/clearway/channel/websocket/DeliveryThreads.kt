// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import java.util.concurrent.Executor
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.ThreadPoolExecutor
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

/**
 * Daemon threads that call the sinks of all sockets of the process, for short work. Bounded, because on two processors
 * `CompletableFuture.runAsync` starts a thread for each task, and 500 clients had 746.
 */
internal object DeliveryThreads : Executor {
    /** More than a process has processors for; enough that some sinks which block hold up no others. */
    private const val MAX = 64
    private const val KEPT_SECONDS = 10L
    private val count = AtomicInteger()
    private val threads =
        ThreadPoolExecutor(MAX, MAX, KEPT_SECONDS, TimeUnit.SECONDS, LinkedBlockingQueue()) { task ->
                Thread(task, "clearway-channel-websocket-${count.incrementAndGet()}").apply { isDaemon = true }
            }
            .apply { allowCoreThreadTimeOut(true) }

    override fun execute(task: Runnable): Unit = threads.execute(task)
}

/** Calls code that must not throw and may do so all the same; that goes to the thread's handler of uncaught errors. */
internal inline fun guarded(act: () -> Unit) {
    try {
        act()
    } catch (thrown: Throwable) {
        uncaught(thrown)
    }
}

internal fun uncaught(thrown: Throwable) {
    try {
        val thread = Thread.currentThread()
        thread.uncaughtExceptionHandler?.uncaughtException(thread, thrown)
    } catch (_: Throwable) {
        // The handler is foreign code as well.
    }
}
