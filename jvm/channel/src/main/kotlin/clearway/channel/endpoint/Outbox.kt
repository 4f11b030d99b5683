// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import java.util.ArrayDeque

/** A request that waits to be sent. `leave` sends it. If `leave` throws, `refuse` receives the exception. */
internal interface Waiting {
    fun leave()

    fun refuse(reason: Throwable)
}

/**
 * Keeps requests in order while the transport applies back-pressure. The callers limit the number of requests. The
 * endpoint's lock guards this object.
 */
internal class Outbox(private val link: Link) {
    private val waiting = ArrayDeque<Waiting>()

    /** Sends a request now, or keeps it until the transport has room. */
    fun push(request: Waiting) {
        if (waiting.isEmpty() && !link.congested) leave(request) else waiting.add(request)
    }

    /** Removes a request that was not sent yet. Returns false if it was sent already. */
    fun remove(request: Waiting): Boolean = waiting.removeFirstOccurrence(request)

    /** Sends waiting requests while the transport has room. */
    fun drain() {
        while (!link.congested) leave(waiting.poll() ?: return)
    }

    /** Removes all waiting requests, because the connection has ended. */
    fun clear(): Unit = waiting.clear()

    private fun leave(request: Waiting) {
        try {
            request.leave()
        } catch (reason: Throwable) {
            request.refuse(reason)
        }
    }
}
