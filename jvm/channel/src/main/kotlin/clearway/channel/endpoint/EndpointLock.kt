// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import java.util.concurrent.locks.ReentrantLock

/**
 * Guards an endpoint's state. Calls into the application (futures, handlers, listeners) are deferred until the lock is
 * released, so that they cannot hold it or find the state half changed.
 */
internal class EndpointLock(
    /** Never throws. */
    private val onError: (Throwable) -> Unit
) {
    private val lock = ReentrantLock()
    private var deferred = ArrayList<() -> Unit>()

    /** Runs `act` under the lock, which is reentrant, then what it deferred. */
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

    // What the application's code throws must not end the thread that reads for all.
    private fun run(act: () -> Unit) {
        try {
            act()
        } catch (thrown: Throwable) {
            onError(thrown)
        }
    }

    /** Runs it when this thread releases the lock. Called under the lock. */
    fun defer(act: () -> Unit) {
        check(lock.isHeldByCurrentThread) { "the lock is not held" }
        deferred.add(act)
    }
}
