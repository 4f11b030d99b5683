// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import clearway.meter.Stall
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.ReentrantLock
import java.util.function.Consumer
import kotlin.concurrent.withLock

/**
 * Passes the stalls of one watch to the app's `onStall`, one at a time and in order, on a daemon thread. The meter's
 * own thread must not run code of the app, because it observes nothing meanwhile. A ThreadPoolExecutor would not do: a
 * security manager may forbid to end it.
 *
 * @param closeMs maximum time in ms for which [close] waits for `onStall`
 */
internal class StallDelivery(private val onStall: Consumer<in Stall>, private val closeMs: Long = CLOSE_MS) :
    AutoCloseable {
    private val lock = ReentrantLock()
    private val changed = lock.newCondition()
    private val waiting = ArrayDeque<Stall>()
    /** The thread that calls `onStall`. Null before the first stall, and after the thread has ended. */
    private var thread: Thread? = null
    private var closed = false

    /**
     * Adds a stall. Does not wait for `onStall`. If [WAITING_MAX] stalls wait, drops the oldest of them. After [close],
     * drops the new stall. Throws OutOfMemoryError if the system cannot start a thread; the stall then waits for the
     * next call.
     */
    fun add(stall: Stall) {
        lock.withLock {
            if (closed) return
            if (waiting.size == WAITING_MAX) waiting.removeFirst()
            waiting += stall
            changed.signalAll()
            if (thread != null) return
            val started = ownThread("clearway-meter-onStall", ::run)
            started.start()
            thread = started
        }
    }

    private fun run() {
        while (true) {
            val stall = take() ?: return
            guarded { onStall.accept(stall) }
            Thread.interrupted() // An interrupt of `onStall` must not end the next wait.
        }
    }

    /** Waits for the next stall. Returns null if the thread must end, because it was idle for long or by [close]. */
    private fun take(): Stall? =
        lock.withLock {
            var leftNs = TimeUnit.SECONDS.toNanos(KEPT_SECONDS)
            while (waiting.isEmpty() && !closed && leftNs > 0) {
                try {
                    leftNs = changed.awaitNanos(leftNs)
                } catch (_: InterruptedException) {
                    // Only `close` interrupts this thread, and it sets `closed` first.
                }
            }
            waiting.removeFirstOrNull()
                ?: null.also {
                    thread = null
                    changed.signalAll()
                }
        }

    /**
     * Waits until `onStall` has returned for all stalls, at most [closeMs]. If it has not returned by then, drops the
     * waiting stalls and interrupts `onStall`. On the thread of `onStall`, does not wait. A second call is harmless.
     */
    override fun close() {
        var interrupted = false
        lock.withLock {
            closed = true
            changed.signalAll()
            if (Thread.currentThread() === thread) return
            val untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(closeMs)
            while (thread != null) {
                val leftNs = untilNs - System.nanoTime()
                if (leftNs <= 0) break
                try {
                    changed.awaitNanos(leftNs)
                } catch (_: InterruptedException) {
                    interrupted = true
                }
            }
            waiting.clear()
            thread?.interrupt()
        }
        if (interrupted) Thread.currentThread().interrupt()
    }

    internal companion object {
        /** Maximum number of stalls that wait for `onStall`. They take at most about 0.3 MB. */
        const val WAITING_MAX = 1024
        /** Default of `closeMs`: long for a listener, short for a person who waits for a program's end. */
        private const val CLOSE_MS = 1_000L
        /** Time in s after which the idle thread ends. A new thread costs about 0.1 ms. */
        private const val KEPT_SECONDS = 10L
    }
}
