// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import java.util.concurrent.locks.ReentrantLock

/**
 * One thing at a time: what an endpoint knows is looked at and changed in turns, under one lock. What calls the
 * application (futures, handlers, listeners) is left for after the turn, and runs without the lock.
 */
internal class Turns(
    /** Never throws. */
    private val onError: (Throwable) -> Unit
) {
    private val lock = ReentrantLock()
    private var left = ArrayList<() -> Unit>()

    fun <T> turn(act: () -> T): T {
        var mine: List<() -> Unit> = emptyList()
        lock.lock()
        try {
            return act()
        } finally {
            if (lock.holdCount == 1 && left.isNotEmpty()) {
                mine = left
                left = ArrayList()
            }
            lock.unlock()
            for (each in mine) run(each)
        }
    }

    // What the application's code throws must not end the thread that reads for all.
    private fun run(act: () -> Unit) {
        try {
            act()
        } catch (thrown: Throwable) {
            onError(thrown)
        }
    }

    /** Runs it after the turn that this is called in. */
    fun later(act: () -> Unit) {
        check(lock.isHeldByCurrentThread) { "outside of a turn" }
        left.add(act)
    }
}
