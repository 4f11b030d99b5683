// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import java.util.ArrayDeque

/** A request that waits to be sent. `send` sends it. If `send` throws, `refuse` receives the exception. */
internal interface QueuedRequest {
    fun send()

    fun refuse(reason: Throwable)
}

/**
 * Keeps requests in order while the transport applies back-pressure. The callers limit the number of requests. The
 * endpoint's lock guards this object.
 */
internal class Outbox(private val connection: Connection) {
    private val waiting = ArrayDeque<QueuedRequest>()

    /** Sends a request now, or keeps it until the transport has room. */
    fun push(request: QueuedRequest) {
        if (waiting.isEmpty() && !connection.congested) send(request) else waiting.add(request)
    }

    /** Removes a request that was not sent yet. Returns false if it was sent already. */
    fun remove(request: QueuedRequest): Boolean = waiting.removeFirstOccurrence(request)

    /** Sends waiting requests while the transport has room. */
    fun drain() {
        while (!connection.congested) send(waiting.poll() ?: return)
    }

    /** Removes all waiting requests, because the connection has ended. */
    fun clear(): Unit = waiting.clear()

    private fun send(request: QueuedRequest) {
        try {
            request.send()
        } catch (reason: Throwable) {
            request.refuse(reason)
        }
    }
}
