// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.endpoint.Clock
import clearway.channel.endpoint.Timer

/** A clock that advances only when a test calls [pass]. */
internal class FakeClock : Clock {
    private class Due(val atMs: Long, val act: () -> Unit)

    private var nowMs = 0L
    private val due = ArrayList<Due>()

    @Synchronized override fun nowMs(): Long = nowMs

    @Synchronized
    override fun after(ms: Long, act: () -> Unit): Timer {
        // A sum with a very large `ms` would overflow. Such a timer never runs in a test.
        val one = Due(if (ms > Long.MAX_VALUE / 2) ms else nowMs + ms, act)
        due += one
        return Timer { synchronized(this) { due -= one } }
    }

    fun pass(ms: Long) {
        val now =
            synchronized(this) {
                nowMs += ms
                val over = due.filter { it.atMs <= nowMs }
                due -= over.toSet()
                over
            }
        for (each in now) each.act()
    }
}
