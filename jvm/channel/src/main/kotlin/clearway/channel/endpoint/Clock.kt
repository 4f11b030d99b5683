// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.transport.DaemonThreads
import java.util.concurrent.ScheduledThreadPoolExecutor
import java.util.concurrent.TimeUnit

/** An endpoint's clock and timers; tests have their own. Never blocks. */
internal interface Clock {
    fun nowMs(): Long

    /** Calls back once. Returns what stops it. */
    fun after(ms: Long, act: () -> Unit): Timer
}

internal fun interface Timer {
    fun stop()
}

/** One daemon thread for all endpoints' timers; what they do is short. */
internal object SystemClock : Clock {
    private val timers =
        ScheduledThreadPoolExecutor(1, DaemonThreads("clearway-channel-timer-")).apply {
            // A call that was answered must not be kept until its deadline.
            removeOnCancelPolicy = true
        }

    override fun nowMs(): Long = System.nanoTime() / 1_000_000

    override fun after(ms: Long, act: () -> Unit): Timer {
        val timer = timers.schedule(act, ms, TimeUnit.MILLISECONDS)
        return Timer { timer.cancel(false) }
    }
}
