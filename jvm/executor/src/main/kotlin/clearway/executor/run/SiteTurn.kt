// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import java.util.ArrayDeque

/**
 * The turn of an ordered site: batches and tasks of the site take it one at a time, in the order of their requests.
 * Never blocks; notifies through [Place]. Thread-safe.
 */
internal class SiteTurn {
    /**
     * One request for the turn. `go` is called when the turn is granted, on the thread that left it or on the
     * requesting thread. It must hand the work on, and must not throw.
     */
    class Place(private val go: () -> Unit) {
        @Volatile
        var granted = false
            private set

        /** The thread that runs the items. Work of the same site that it starts is within this turn. */
        @Volatile var owner: Thread? = null

        internal fun grant() {
            granted = true
            go()
        }
    }

    private val waiting = ArrayDeque<Place>()
    private var current: Place? = null

    /** Whether the current thread is in an item that has the turn. */
    val isMine: Boolean
        get() = synchronized(this) { current?.owner === Thread.currentThread() }

    fun ask(place: Place) {
        synchronized(this) {
            if (current != null) {
                waiting.add(place)
                return
            }
            current = place
        }
        place.grant()
    }

    /** Gives the turn to the next request, or withdraws a waiting request. A second call does nothing. */
    fun leave(place: Place) {
        val next =
            synchronized(this) {
                if (current !== place) {
                    waiting.remove(place)
                    return
                }
                place.owner = null
                waiting.poll().also { current = it }
            }
        next?.grant()
    }
}
