// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import java.nio.ByteBuffer
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.Future
import java.util.concurrent.ScheduledExecutorService
import java.util.concurrent.TimeUnit
import org.eclipse.jetty.io.Connection

/**
 * Ends HTTP connections that have not become a WebSocket within a time. Jetty's own timeout starts again with each
 * byte, so a client that sends its request slowly could keep a connection for hours.
 */
internal class HandshakeLimit(private val timers: ScheduledExecutorService, private val ms: Long) :
    Connection.Listener {
    private val waiting = ConcurrentHashMap<Connection, Future<*>>()

    override fun onOpened(connection: Connection) {
        // A connection that may become another one is still HTTP.
        if (connection is Connection.UpgradeFrom)
            waiting.computeIfAbsent(connection) { timers.schedule({ end(connection) }, ms, TimeUnit.MILLISECONDS) }
    }

    /** Called also when the connection has become a WebSocket. */
    override fun onClosed(connection: Connection) {
        waiting.remove(connection)?.cancel(false)
    }

    private fun end(connection: Connection) {
        // Writes what the socket accepts at once. This thread must not wait for the client.
        guarded { connection.endPoint.flush(ByteBuffer.wrap(REPLY)) }
        connection.endPoint.close()
    }

    private companion object {
        val REPLY = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".toByteArray()
    }
}
