// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import java.util.ArrayDeque

/**
 * The fair lock of an ordered site: batches and tasks of the site acquire it one at a time, in the order in which they
 * ask. Never blocks; [Waiter] is called with the lock. For any thread.
 */
internal class SiteLock {
    /**
     * A request for the lock. `go` is called once the request has it, on the thread that released it or that asked: it
     * hands on, and does not throw.
     */
    class Waiter(private val go: () -> Unit) {
        @Volatile
        var granted = false
            private set

        /** The thread that runs the items: what it runs of the same site is within its own turn. */
        @Volatile var owner: Thread? = null

        internal fun grant() {
            granted = true
            go()
        }
    }

    private val waiting = ArrayDeque<Waiter>()
    private var current: Waiter? = null

    /** Whether the current thread runs an item that holds the lock. */
    val isHeldByCurrentThread: Boolean
        get() = synchronized(this) { current?.owner === Thread.currentThread() }

    fun acquire(waiter: Waiter) {
        synchronized(this) {
            if (current != null) {
                waiting.add(waiter)
                return
            }
            current = waiter
        }
        waiter.grant()
    }

    /** Gives the lock to the next waiter, or withdraws a request that does not have it. Harmless if called twice. */
    fun release(waiter: Waiter) {
        val next =
            synchronized(this) {
                if (current !== waiter) {
                    waiting.remove(waiter)
                    return
                }
                waiter.owner = null
                waiting.poll().also { current = it }
            }
        next?.grant()
    }
}
