// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.transport.DaemonThreads
import java.util.concurrent.ScheduledThreadPoolExecutor
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.ReentrantLock

/**
 * Guards an endpoint's state. Calls of application code (futures, handlers, listeners) are deferred until the lock is
 * released. Application code therefore never runs under the lock and never sees state in the middle of a change.
 */
internal class EndpointLock(
    /** Receives the exceptions of deferred actions. Must not throw. */
    private val onError: (Throwable) -> Unit
) {
    private val lock = ReentrantLock()
    private var deferred = ArrayList<() -> Unit>()

    /**
     * Runs `act` under the lock, which is reentrant. The outermost call releases the lock, then runs the deferred
     * actions.
     */
    fun <T> locked(act: () -> T): T {
        var mine: List<() -> Unit> = emptyList()
        lock.lock()
        try {
            return act()
        } finally {
            if (lock.holdCount == 1 && deferred.isNotEmpty()) {
                mine = deferred
                deferred = ArrayList()
            }
            lock.unlock()
            for (each in mine) run(each)
        }
    }

    // An exception of application code must not end the thread that reads for the whole endpoint.
    private fun run(act: () -> Unit) {
        try {
            act()
        } catch (thrown: Throwable) {
            onError(thrown)
        }
    }

    /** Runs `act` after this thread has released the lock. The caller must hold the lock. */
    fun defer(act: () -> Unit) {
        check(lock.isHeldByCurrentThread) { "the lock is not held" }
        deferred.add(act)
    }
}

/** Supplies an endpoint's time and timers. Tests use their own implementation. No method blocks. */
internal interface Clock {
    /** Returns the current time in milliseconds, counted from an arbitrary zero point. */
    fun nowMs(): Long

    /** Runs `act` once, after `ms` milliseconds. Returns a timer that can cancel the run. */
    fun after(ms: Long, act: () -> Unit): Timer
}

internal fun interface Timer {
    fun stop()
}

/** Runs the timers of all endpoints on one daemon thread. The timers' actions must be short. */
internal object SystemClock : Clock {
    private val timers =
        ScheduledThreadPoolExecutor(1, DaemonThreads("clearway-channel-timer-")).apply {
            // Without this policy, the queue would keep the timer of an answered call until the call's deadline.
            removeOnCancelPolicy = true
        }

    override fun nowMs(): Long = System.nanoTime() / 1_000_000

    override fun after(ms: Long, act: () -> Unit): Timer {
        val timer = timers.schedule(act, ms, TimeUnit.MILLISECONDS)
        return Timer { timer.cancel(false) }
    }
}
