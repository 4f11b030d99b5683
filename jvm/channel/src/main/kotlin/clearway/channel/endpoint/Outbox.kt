// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import java.util.ArrayDeque

/** A request that waits to leave. `leave` sends it; `refuse` is called with what `leave` throws. */
internal interface Waiting {
    fun leave()

    fun refuse(reason: Throwable)
}

/**
 * Requests that wait while the transport asks to hold back, in order. The code that makes the requests limits their
 * number. Guarded by its endpoint's lock.
 */
internal class Outbox(private val link: Link) {
    private val waiting = ArrayDeque<Waiting>()

    /** Sends it now, or keeps it. */
    fun push(request: Waiting) {
        if (waiting.isEmpty() && !link.congested) leave(request) else waiting.add(request)
    }

    /** Takes one out that has not left; false when it has. */
    fun remove(request: Waiting): Boolean = waiting.removeFirstOccurrence(request)

    /** There is room again. */
    fun drain() {
        while (!link.congested) leave(waiting.poll() ?: return)
    }

    /** Nothing leaves any more. */
    fun clear(): Unit = waiting.clear()

    private fun leave(request: Waiting) {
        try {
            request.leave()
        } catch (reason: Throwable) {
            request.refuse(reason)
        }
    }
}
