// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.TransportLimits
import java.util.concurrent.LinkedBlockingQueue

/** One server that all tests of this JVM use, and the transports of its connections. */
internal object Pairs {
    private val accepted = LinkedBlockingQueue<ChannelTransport>()
    private val limits = TransportLimits(1 shl 20)
    val server: WebSocketServer = WebSocketServer.start(WebSocketServerOptions().limits(limits)) { accepted += it }

    /**
     * Returns a client's end and the server's end, both open. Waits until the connection is open. Data may otherwise
     * arrive together with the end of the handshake. If these are more than 16 KiB, the JDK's client sometimes reads
     * them in the wrong order (spec/websocket.md).
     */
    fun connect(): Pair<ChannelTransport, ChannelTransport> {
        val client = WebSocketTransport.connect(server.uri, server.token, limits)
        (client as SocketTransport).opening.get()
        return Pair(client, accepted.take())
    }
}
