// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.transport.DaemonThreads
import java.util.concurrent.ScheduledThreadPoolExecutor
import java.util.concurrent.TimeUnit

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
