// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.transport.CloseCode
import clearway.channel.transport.Log
import clearway.channel.transport.TransportLimits
import java.lang.reflect.Proxy
import java.net.Socket as TcpSocket
import java.nio.ByteBuffer
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.TimeUnit
import org.eclipse.jetty.websocket.api.Callback
import org.eclipse.jetty.websocket.api.Session
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Tests of a server's pings and of its time limits. */
class ServerTimersTest {
    private val timers = FakeTimers()
    private val accepted = Log()

    private fun server(options: WebSocketServerOptions): WebSocketServer =
        WebSocketServer(options.withoutToken(), { it.open(accepted) }, timers).also { it.start() }

    /** Connects a client, and waits until the server has received its first frame. */
    private fun client(server: WebSocketServer) =
        WebSocketTransport.connect(server.uri).also {
            it.open(Log())
            it.send(byteArrayOf(1))
            accepted.count(1)
        }

    @Test
    fun `a pause of the process that is longer than pingMs ends no connection`() {
        server(WebSocketServerOptions().pingMs(1000)).use { server ->
            val client = client(server)
            assertEquals(1, timers.pass(10_000))
            client.send(byteArrayOf(2))
            accepted.count(2)
        }
    }

    @Test
    fun `a client that falls silent is ended with timeout at the second ping`() {
        lateinit var transport: SocketTransport
        val server =
            WebSocketServer(
                WebSocketServerOptions().withoutToken().pingMs(1000),
                {
                    transport = it as SocketTransport
                    it.open(accepted)
                },
                timers,
            )
        server.start()
        server.use {
            TcpSocket(server.uri.host, server.uri.port).use { client ->
                val request =
                    listOf(
                        "GET / HTTP/1.1",
                        "Host: ${server.uri.authority}",
                        "Upgrade: websocket",
                        "Connection: Upgrade",
                        "Sec-WebSocket-Version: 13",
                        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
                        "\r\n",
                    )
                client.getOutputStream().write(request.joinToString("\r\n").toByteArray())
                // An empty binary message, with a mask of zeros.
                client.getOutputStream().write(byteArrayOf(0x82.toByte(), 0x80.toByte(), 0, 0, 0, 0))
                accepted.count(1)
                while (!transport.isRead) Thread.onSpinWait()
                timers.pass(1000)
                assertFalse(transport.isOver)
                timers.pass(1000)
                assertEquals(CloseCode.TIMEOUT, accepted.end().code)
            }
        }
    }

    @Test
    fun `a peer that pings and never reads causes one pong on its way, and then the newest`() {
        val pongs = ArrayList<Pair<Byte, Callback>>()
        val session =
            Proxy.newProxyInstance(javaClass.classLoader, arrayOf(Session::class.java)) { _, method, given ->
                if (method.name == "sendPong") pongs += Pair((given[0] as ByteBuffer).get(), given[1] as Callback)
                null
            } as Session
        val socket = JettySocket(SocketTransport(TransportLimits()), true, ConcurrentHashMap.newKeySet(), 1) {}
        socket.onWebSocketOpen(session)
        val payload = ByteBuffer.allocate(1)
        for (n in 1..100) {
            payload.clear()
            socket.onWebSocketPing(payload.put(0, n.toByte()))
        }
        assertEquals(listOf<Byte>(1), pongs.map { it.first })
        pongs[0].second.succeed()
        assertEquals(listOf<Byte>(1, 100), pongs.map { it.first })
        pongs[1].second.fail(null)
        assertEquals(2, pongs.size)
    }

    @Test
    fun `a client that has sent no request after handshakeMs gets 408 and is closed`() {
        server(WebSocketServerOptions().handshakeMs(1000)).use { server ->
            TcpSocket(server.uri.host, server.uri.port).use { client ->
                val limit = timers.once.poll(60, TimeUnit.SECONDS)!!
                assertEquals(1000, limit.ms)
                limit.run()
                val reply = client.getInputStream().readAllBytes().decodeToString()
                assertTrue(reply.startsWith("HTTP/1.1 408 "), reply)
            }
        }
    }

    @Test
    fun `a client that was admitted is not closed after handshakeMs`() {
        server(WebSocketServerOptions()).use { server ->
            client(server)
            assertEquals(listOf(true), timers.once.map { it.isCancelled })
        }
    }
}
