// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.Endpoint
import clearway.channel.EndpointContract
import clearway.channel.EndpointOptions
import clearway.channel.FrameLimitContract
import clearway.channel.inheritsNothing
import clearway.channel.interop.Node
import clearway.channel.interop.TypeScriptContract
import clearway.channel.transport.ChannelSink
import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason
import clearway.channel.transport.Connected
import clearway.channel.transport.Log
import clearway.channel.transport.TransportContract
import clearway.channel.transport.TransportLimits
import java.net.URI
import java.nio.ByteBuffer
import java.util.concurrent.CompletableFuture
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.Semaphore
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Test

/** A socket that sends at once. It adds what it sends to `log`. */
internal class SendingSocket(private val log: MutableList<String> = ArrayList()) : Socket {
    override val isOurs = true

    override fun binary(message: ByteArray, sent: () -> Unit) {
        log += "binary ${message.size}"
        sent()
    }

    override fun text(message: String, sent: () -> Unit) {
        log += message
        sent()
    }

    override fun close(status: Int, text: String, sent: () -> Unit) {
        log += "close $status"
        sent()
    }

    override fun demand() {}

    override fun abort() {}
}

class SocketTransportTest {
    private val limits = TransportLimits(1000)
    private val log = ArrayList<String>()
    private val socket = SendingSocket(log)

    private fun opened(by: Socket = socket, sink: ChannelSink = Log()): SocketTransport =
        SocketTransport(limits).also {
            it.open(sink)
            it.opened(by)
        }

    @Test
    fun `the transport sends queued frames when its socket opens`() {
        val transport = SocketTransport(limits)
        transport.open(Log())
        transport.send(ByteArray(3))
        transport.opened(socket)
        assertEquals(listOf("binary 3"), log)
    }

    @Test
    fun `a sink that throws still receives later frames and the end`() {
        val told = Log()
        val throwing =
            object : ChannelSink {
                override fun frame(frame: ByteArray) {
                    told.frame(frame)
                    throw AssertionError("broken")
                }

                override fun drained() = throw AssertionError("broken")

                override fun closed(reason: CloseReason) {
                    told.closed(reason)
                    throw AssertionError("broken")
                }
            }
        val transport = opened(sink = throwing)
        repeat(2) { transport.binary(ByteBuffer.wrap(ByteArray(3)), true) }
        transport.closed(1000, "")
        told.end()
        assertEquals(2, told.frames.size)
    }

    @Test
    fun `the transport ends with failed when the socket throws during a send`() {
        val told = Log()
        val broken =
            object : Socket by socket {
                override fun binary(message: ByteArray, sent: () -> Unit) = throw IllegalStateException("broken")
            }
        val transport = opened(broken, told)
        transport.send(ByteArray(3))
        assertEquals(CloseCode.FAILED, told.end().code)
    }

    @Test
    fun `an abort keeps its reason when the socket reports the end of the connection first`() {
        val told = Log()
        val transport = SocketTransport(limits)
        val reporting =
            object : Socket by socket {
                override fun abort() = transport.closed(1006, "")
            }
        transport.open(told)
        transport.opened(reporting)
        transport.abort(CloseReason(CloseCode.TIMEOUT, "silent"))
        assertEquals(CloseCode.TIMEOUT, told.end().code)
    }

    @Test
    fun `answers to marks do not pile up when the other end does not read`() {
        val leaving = ArrayList<() -> Unit>()
        val slow =
            object : Socket by socket {
                override fun text(message: String, sent: () -> Unit) {
                    log += message
                    leaving += sent
                }
            }
        val transport = opened(slow)
        for (count in 1..100) {
            transport.binary(ByteBuffer.wrap(ByteArray(2)), true)
            transport.text("mark ${count * 10}", true)
        }
        assertEquals(listOf("taken 10"), log)
        leaving[0]()
        assertEquals(listOf("taken 10", "taken 1000"), log)
        leaving[1]()
        assertEquals(2, log.size)
    }

    @Test
    fun `a mark that comes again is an error of the protocol`() {
        val transport = opened()
        transport.binary(ByteBuffer.wrap(ByteArray(2)), true)
        repeat(2) { transport.text("mark 10", true) }
        assertEquals(listOf("taken 10", "close 4002"), log)
    }

    @Test
    fun `a transport that is paused reads what makes room, and asks for no more than fits its limits`() {
        var demands = 0
        val counting =
            object : Socket by socket {
                override fun demand() {
                    demands++
                }
            }
        val told = Log()
        val transport = SocketTransport(TransportLimits(100, 100))
        transport.open(told)
        transport.opened(counting)
        transport.send(ByteArray(92))
        transport.pause()
        transport.text("taken 100", true)
        assertEquals(1, told.drains)
        // These messages are charged 1760 bytes: more than the largest frame plus a window of empty frames.
        repeat(8) { transport.binary(ByteBuffer.wrap(ByteArray(92)), true) }
        assertEquals(9, demands)
        assertEquals(0, told.frames.size)
        transport.resume()
        told.count(8)
        transport.binary(ByteBuffer.wrap(ByteArray(1)), true)
        told.count(9)
    }

    /**
     * Pauses a transport and gives it `count` messages. Waits before each one until the transport asks for it, without
     * a limit.
     */
    private fun keepWhilePaused(transport: SocketTransport, message: ByteArray, count: Int) {
        // The thread that delivers for `open` may ask at any time.
        val asked = Semaphore(0)
        val asking =
            object : Socket by socket {
                override fun demand() = asked.release()
            }
        transport.open(Log())
        transport.opened(asking)
        transport.pause()
        repeat(count) {
            asked.acquire()
            transport.binary(ByteBuffer.wrap(message), true)
        }
    }

    @Test
    fun `a transport that is paused charges messages without bytes for their objects`() {
        // 1280 bytes for the largest frame, and as much for a window of 80 bytes, which is ten empty frames.
        val transport = SocketTransport(TransportLimits(1280, 80))
        keepWhilePaused(transport, ByteArray(0), 20)
        assertFalse(transport.isRead)
    }

    @Test
    fun `a transport that is paused reads a whole window of another end, whatever the size of its frames`() {
        val windowBytes = 8000
        for (size in listOf(0, 24, 100, 1000)) {
            val message = ByteArray(size)
            val count = windowBytes / weight(message).toInt() + 1
            keepWhilePaused(SocketTransport(TransportLimits(1000, windowBytes)), message, count)
        }
    }
}

class OwnThreadTest {
    @Test
    fun `a thread inherits nothing from the thread that creates it`() {
        inheritsNothing(SocketTransport::class.java) { run -> ownThread("ours", run) }
    }
}

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
        node = Node.start("serve")
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
        node = Node.start("connect", server.uri.toString(), server.token.orEmpty())
        return met.get(60, TimeUnit.SECONDS)
    }

    @AfterAll
    fun closeServer() {
        if (Node.isBuilt) server.close()
    }
}
