// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.Endpoint
import clearway.channel.EndpointContract
import clearway.channel.EndpointOptions
import clearway.channel.FrameLimitContract
import clearway.channel.interop.Node
import clearway.channel.interop.TypeScriptContract
import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason
import clearway.channel.transport.Connected
import clearway.channel.transport.TransportContract
import clearway.channel.transport.TransportLimits
import java.net.URI
import java.util.concurrent.CompletableFuture
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.BeforeAll

class WebSocketTransportTest : TransportContract() {
    override fun connect(limits: TransportLimits): Connected {
        val (a, b) = Pairs.connect()
        return Connected(a, b) { (b as SocketTransport).abort(CloseReason(CloseCode.LOST, "gone")) }
    }
}

class WebSocketServerEndTest : TransportContract() {
    override fun connect(limits: TransportLimits): Connected {
        val (a, b) = Pairs.connect()
        return Connected(b, a) { (a as SocketTransport).abort(CloseReason(CloseCode.LOST, "gone")) }
    }
}

class WebSocketEndpointTest : EndpointContract() {
    override fun transports(): Pair<ChannelTransport, ChannelTransport> = Pairs.connect()
}

class WebSocketFrameLimitTest : FrameLimitContract() {
    override fun transports(): Pair<ChannelTransport, ChannelTransport> = Pairs.connect()
}

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

abstract class WebSocketInterop : TypeScriptContract() {
    override lateinit var endpoint: Endpoint
    protected lateinit var node: Process

    abstract fun connect(): Endpoint

    @BeforeAll
    fun start() {
        assumeTrue(Node.isBuilt, "TypeScript is not built: node scripts/build.mjs")
        endpoint = connect()
    }

    @AfterAll
    fun stop() {
        if (!Node.isBuilt) return
        endpoint.closeAsync().get(60, TimeUnit.SECONDS)
        node.destroy()
        node.waitFor()
    }
}

/** Tests TypeScript's server with the JVM's client. */
class TypeScriptServerTest : WebSocketInterop() {
    override fun connect(): Endpoint {
        node = Node.start("websocket.mjs", "serve")
        val reader = node.inputStream.bufferedReader()
        val transport = WebSocketTransport.connect(URI(reader.readLine()), reader.readLine())
        return Endpoint.connect(transport, EndpointOptions().exposeErrors(true)).get(60, TimeUnit.SECONDS)
    }
}

/** Tests the JVM's server with TypeScript's client. */
class TypeScriptClientTest : WebSocketInterop() {
    private lateinit var server: WebSocketServer

    override fun connect(): Endpoint {
        val met = CompletableFuture<Endpoint>()
        server =
            WebSocketServer.start(WebSocketServerOptions().path("/jvm")) { transport ->
                Endpoint.connect(transport, EndpointOptions().exposeErrors(true)).thenAccept { met.complete(it) }
            }
        node = Node.start("websocket.mjs", "connect", server.uri.toString(), server.token.orEmpty())
        return met.get(60, TimeUnit.SECONDS)
    }

    @AfterAll
    fun closeServer() {
        if (Node.isBuilt) server.close()
    }
}
