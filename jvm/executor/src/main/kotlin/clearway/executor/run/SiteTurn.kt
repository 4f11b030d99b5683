// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import java.util.ArrayDeque

/**
 * The turn of an ordered site: batches and tasks of the site take it one at a time, in the order in which they ask.
 * Never blocks; whoever gets it is told by [Place]. For any thread.
 */
internal class SiteTurn {
    /**
     * One who asks. `go` is called when the turn is its own, by the thread that left it or by its own: it hands on, and
     * does not throw.
     */
    class Place(private val go: () -> Unit) {
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

    private val waiting = ArrayDeque<Place>()
    private var current: Place? = null

    /** Whether the current thread is in an item whose turn it is. */
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

    /** It is over: gives the turn to the next, or leaves the line. Harmless if called twice. */
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
