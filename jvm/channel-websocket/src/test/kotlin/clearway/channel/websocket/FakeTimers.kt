// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import java.util.concurrent.Delayed
import java.util.concurrent.Executors
import java.util.concurrent.FutureTask
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.ScheduledExecutorService
import java.util.concurrent.ScheduledFuture
import java.util.concurrent.TimeUnit

/** The timers of a server, whose time advances only when a test calls [pass]. */
internal class FakeTimers : ScheduledExecutorService by Executors.newSingleThreadScheduledExecutor() {
    /** A timer that runs once, unless it is cancelled. */
    class Once(act: Runnable, val ms: Long) : FutureTask<Any?>(act, null), ScheduledFuture<Any?> {
        override fun getDelay(unit: TimeUnit): Long = 0

        override fun compareTo(other: Delayed): Int = 0
    }

    private class Periodic(val act: Runnable, val ms: Long, val catchesUp: Boolean)

    private val periodic = ArrayList<Periodic>()
    val once = LinkedBlockingQueue<Once>()

    override fun schedule(act: Runnable, delay: Long, unit: TimeUnit): ScheduledFuture<*> =
        Once(act, unit.toMillis(delay)).also(once::add)

    override fun scheduleAtFixedRate(act: Runnable, first: Long, period: Long, unit: TimeUnit): ScheduledFuture<*> {
        periodic += Periodic(act, unit.toMillis(period), catchesUp = true)
        return Once({}, 0)
    }

    override fun scheduleWithFixedDelay(act: Runnable, first: Long, delay: Long, unit: TimeUnit): ScheduledFuture<*> {
        periodic += Periodic(act, unit.toMillis(delay), catchesUp = false)
        return Once({}, 0)
    }

    /** Lets time pass at once, as in a pause of the process. Returns the number of runs of periodic timers. */
    fun pass(ms: Long): Int =
        periodic.sumOf { each ->
            val runs = if (each.catchesUp) (ms / each.ms).toInt() else minOf(ms / each.ms, 1).toInt()
            repeat(runs) { each.act.run() }
            runs
        }
}
