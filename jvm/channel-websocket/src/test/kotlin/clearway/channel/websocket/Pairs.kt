// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.TransportLimits
import java.util.concurrent.LinkedBlockingQueue

/** One server for the tests of this JVM, and the ends that were connected to it. */
internal object Pairs {
    private val accepted = LinkedBlockingQueue<ChannelTransport>()
    private val limits = TransportLimits(1 shl 20)
    val server: WebSocketServer = WebSocketServer.start(WebSocketServerOptions().limits(limits)) { accepted += it }

    /**
     * A client's end and the server's, both open: what is sent together with the handshake's end, and is more than 16
     * KiB, the JDK's client reads in the wrong order now and then (spec/websocket.md).
     */
    fun connect(): Pair<ChannelTransport, ChannelTransport> {
        val client = WebSocketTransport.connect(server.uri, server.token, limits)
        (client as SocketTransport).opening.get()
        return Pair(client, accepted.take())
    }
}
