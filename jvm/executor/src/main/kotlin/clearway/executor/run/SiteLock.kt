// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import java.util.ArrayDeque

/**
 * The fair lock of an ordered site (a kind of work whose items must not run at the same time). Batches and tasks of the
 * site get it one at a time, in the order in which they ask. No function blocks: a [Waiter] is called when it gets the
 * lock. Any thread may ask for the lock and release it.
 */
internal class SiteLock {
    /**
     * A request for the lock. `go` is called once, when the request gets the lock. It runs on the thread that released
     * the lock, or on the thread that asked. It returns quickly, and does not throw.
     */
    class Waiter(private val go: () -> Unit) {
        @Volatile
        var granted = false
            private set

        /** The thread that runs the items. Work of the same site that this thread starts needs no further lock. */
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

    /** Asks for the lock. Calls the waiter at once if the lock is free, and otherwise later. */
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

    /**
     * Passes the lock to the next waiter, or withdraws a request that does not have the lock. A second call does
     * nothing.
     */
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
