// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel.process

import clearway.channel.transport.ChannelSink
import clearway.channel.transport.ChannelTransport
import clearway.channel.websocket.WebSocketServer
import clearway.channel.websocket.WebSocketServerOptions
import clearway.channel.websocket.WebSocketTransport
import clearway.lab.channel.Caller
import clearway.lab.channel.Row
import java.net.URI
import java.util.concurrent.atomic.AtomicLong

/**
 * Opens a WebSocket to a child on loopback. The child prints its address and token to its standard output. Owns the
 * child.
 */
internal fun overSocket(row: Row, child: EchoChild): Caller {
    val addressLine = child.inputReader().readLine() ?: throw child.ended(null)
    val (uri, token) = addressLine.split(' ')
    val counted = CountedTransport(WebSocketTransport.connect(URI(uri), token))
    return ByEndpoint(row, counted, counted.bytes::get) {
        child.outputStream.close()
        child.close()
    }
}

/** Runs the child's end: a server with default options. Returns when the standard input has ended. */
internal fun echoSocket(row: Row) {
    WebSocketServer.start(WebSocketServerOptions()) { transport -> echoing(row, transport) }
        .use { server ->
            println("${server.uri} ${server.token}")
            System.`in`.read()
        }
}

/** Counts the bytes of frames in both directions, without the WebSocket headers. The JDK's sockets count nothing. */
private class CountedTransport(private val of: ChannelTransport) : ChannelTransport by of {
    val bytes = AtomicLong()

    override fun send(frame: ByteArray): Boolean {
        bytes.addAndGet(frame.size.toLong())
        return of.send(frame)
    }

    override fun open(sink: ChannelSink) =
        of.open(
            object : ChannelSink by sink {
                override fun frame(frame: ByteArray) {
                    bytes.addAndGet(frame.size.toLong())
                    sink.frame(frame)
                }
            }
        )
}
