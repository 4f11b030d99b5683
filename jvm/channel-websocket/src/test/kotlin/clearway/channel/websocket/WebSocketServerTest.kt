// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.ChannelException
import clearway.channel.Endpoint
import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason
import clearway.channel.transport.Log
import clearway.channel.transport.TransportLimits
import java.lang.reflect.Proxy
import java.net.URI
import java.net.http.HttpClient
import java.net.http.WebSocket
import java.net.http.WebSocketHandshakeException
import java.time.Duration
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicInteger
import org.eclipse.jetty.websocket.api.Callback
import org.eclipse.jetty.websocket.api.Session
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTimeoutPreemptively
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class WebSocketServerTest {
    private val accepted = Log()
    private val rules = WebSocketServerOptions().path("/camera").token("secret").connectionsMax(2)

    /** Starts a server without a token. */
    private fun start(onConnect: (ChannelTransport) -> Unit): WebSocketServer =
        WebSocketServer.start(WebSocketServerOptions().withoutToken().connectionsMax(50), onConnect)

    /** Connects a client that sends `first`. Returns the log of the client. */
    private fun client(uri: URI, first: Byte = 1): Log =
        Log().also { log ->
            val transport = WebSocketTransport.connect(uri)
            transport.open(log)
            transport.send(byteArrayOf(first))
        }

    /** Waits until the server has no connection. One counts until its own `onConnect` has returned. */
    private fun awaitNoConnection(server: WebSocketServer) =
        assertTimeoutPreemptively(Duration.ofSeconds(60)) { while (server.connections > 0) Thread.yield() }

    private fun checked(
        path: String = "/camera",
        from: String = "127.0.0.1",
        origin: String? = null,
        offered: List<String> = offers("secret"),
        authorization: String? = null,
        connections: Int = 0,
    ): Int? =
        authorize(ConnectRequest(path, from, origin, "127.0.0.1:81", offered, authorization), connections, rules)
            ?.status

    @Test
    fun `the server accepts and refuses requests with the status of the first failed check`() {
        assertEquals(null, checked())
        assertEquals(null, checked(offered = emptyList(), authorization = "Bearer secret"))
        assertEquals(null, checked(origin = "http://127.0.0.1:81"))
        assertEquals(404, checked(path = "/"))
        assertEquals(403, checked(from = "192.168.1.7"))
        for (origin in listOf("http://example.com", "null", "http://127.0.0.1:82", "not a URL")) assertEquals(
            403,
            checked(origin = origin),
            origin,
        )
        assertEquals(503, checked(connections = 2))
        assertEquals(401, checked(offered = offers("guess")))
        assertEquals(401, checked(offered = offers(null)))
    }

    @Test
    fun `the server refuses a site after DNS rebinding`() {
        val rebound =
            ConnectRequest("/camera", "127.0.0.1", "http://evil.example", "evil.example", offers("secret"), null)
        assertEquals(403, authorize(rebound, 0, rules)?.status)
    }

    @Test
    fun `the server listens on the loopback address and has a long random token`() {
        assertEquals("127.0.0.1", Pairs.server.uri.host)
        assertTrue(Pairs.server.token.orEmpty().length >= 43)
    }

    @Test
    fun `the transport ends with refused when the token is wrong`() {
        val log = Log()
        WebSocketTransport.connect(Pairs.server.uri, "a-guess").open(log)
        val reason = log.end()
        assertEquals(CloseCode.REFUSED, reason.code)
        assertEquals(401, reason.detail["status"])
        assertThrows(IllegalArgumentException::class.java) {
            WebSocketTransport.connect(Pairs.server.uri, "not a token")
        }
    }

    @Test
    fun `the server refuses a page of another origin`() {
        val client = HttpClient.newHttpClient()
        val opening =
            client
                .newWebSocketBuilder()
                .header("Origin", "http://example.com")
                .subprotocols(SUBPROTOCOL, "clearway.token.${Pairs.server.token}")
                .buildAsync(Pairs.server.uri, object : WebSocket.Listener {})
        val failed = assertThrows(ExecutionException::class.java) { opening.get(60, TimeUnit.SECONDS) }
        assertEquals(403, (failed.cause as WebSocketHandshakeException).response.statusCode())
    }

    @Test
    fun `the transport ends with failed when no server is there`() {
        val connecting = Endpoint.connect(WebSocketTransport.connect(URI("ws://127.0.0.1:9/")))
        val failed = assertThrows(ExecutionException::class.java) { connecting.get(60, TimeUnit.SECONDS) }
        assertEquals(CloseCode.FAILED, (failed.cause as ChannelException).reason?.code)
    }

    @Test
    fun `closing the server closes its connections`() {
        val server = start { it.open(accepted) }
        val log = client(server.uri)
        accepted.count(1)
        server.close()
        assertTrue(log.end().code in listOf(CloseCode.CLOSED, CloseCode.LOST))
        assertEquals(0, server.connections)
    }

    @Test
    fun `the server ends one connection and continues when onConnect throws`() {
        val throws = AtomicBoolean(true)
        start { if (throws.get()) throw AssertionError("broken") else it.open(accepted) }
            .use { server ->
                client(server.uri).end()
                throws.set(false)
                client(server.uri)
                accepted.count(1)
            }
    }

    @Test
    fun `the server serves other connections while onConnect hangs`() {
        val hangs = CountDownLatch(1)
        val hanging = CountDownLatch(1)
        start {
                if (hanging.count > 0) {
                    hanging.countDown()
                    hangs.await()
                }
                it.open(accepted)
            }
            .use { server ->
                client(server.uri, 1)
                assertTrue(hanging.await(60, TimeUnit.SECONDS))
                client(server.uri, 2)
                assertEquals(listOf<Byte>(2), accepted.count(1).map { it[0] })
                hangs.countDown()
                assertEquals(setOf<Byte>(1, 2), accepted.count(2).map { it[0] }.toSet())
            }
    }

    @Test
    fun `closing the server ends a connection whose onConnect hangs`() {
        val hanging = CountDownLatch(1)
        val interrupted = CountDownLatch(1)
        val server = start {
            hanging.countDown()
            try {
                CountDownLatch(1).await()
            } catch (_: InterruptedException) {
                interrupted.countDown()
            }
        }
        val log = client(server.uri)
        assertTrue(hanging.await(60, TimeUnit.SECONDS))
        server.close()
        log.end()
        assertTrue(interrupted.await(60, TimeUnit.SECONDS))
        awaitNoConnection(server)
    }

    @Test
    fun `onConnect may call back into the server, and ends its own connection only`() {
        val ends = ConcurrentLinkedQueue<Log>()
        val calls = AtomicInteger()
        lateinit var uri: URI
        start {
                when (calls.getAndIncrement()) {
                    0 -> {
                        // The second connection arrives from within the first one.
                        ends += client(uri)
                        it.close(CloseReason.CLOSED)
                    }
                    1 -> {
                        it.open(Log().also(ends::add))
                        it.close(CloseReason.CLOSED)
                        it.close(CloseReason.CLOSED)
                    }
                    else -> it.open(accepted)
                }
            }
            .use { server ->
                uri = server.uri
                assertEquals(CloseCode.CLOSED, client(uri).end().code)
                assertTimeoutPreemptively(Duration.ofSeconds(60)) { while (ends.size < 2) Thread.yield() }
                for (log in ends) assertEquals(CloseCode.CLOSED, log.end().code)
                client(uri)
                accepted.count(1)
            }
    }

    @Test
    fun `onConnect may close the server`() {
        val closed = CompletableFuture<Unit>()
        val started = CompletableFuture<WebSocketServer>()
        val server = start {
            started.get().close()
            closed.complete(Unit)
        }
        started.complete(server)
        client(server.uri).end()
        closed.get(60, TimeUnit.SECONDS)
        awaitNoConnection(server)
    }

    @Test
    fun `a connection that opens when the server is full is closed with refused`() {
        val open = ConcurrentHashMap.newKeySet<JettySocket>()
        val accepted = AtomicInteger()
        val statuses = ConcurrentLinkedQueue<Any>()
        val session =
            Proxy.newProxyInstance(javaClass.classLoader, arrayOf(Session::class.java)) { _, method, given ->
                if (method.name == "close") {
                    statuses += given[0]
                    (given[2] as Callback).succeed()
                }
                null
            } as Session
        repeat(2) {
            val transport = SocketTransport(TransportLimits())
            JettySocket(transport, true, open, 1, { 0 }) { accepted.incrementAndGet() }.onWebSocketOpen(session)
        }
        assertEquals(1, accepted.get())
        assertEquals(1, open.size)
        assertEquals(listOf<Any>(closeStatus(CloseCode.REFUSED)), statuses.toList())
    }

    @Test
    fun `many clients share the threads of one HTTP client`() {
        val selectors = {
            Thread.getAllStackTraces().keys.filter { it.name.startsWith("HttpClient") && "Selector" in it.name }.toSet()
        }
        val before = selectors()
        start { it.open(accepted) }
            .use { server ->
                val clients = List(40) { WebSocketTransport.connect(server.uri) }
                for (client in clients) {
                    client.open(Log())
                    client.send(byteArrayOf(1))
                }
                accepted.count(40)
                assertTrue((selectors() - before).size <= 1)
                clients.forEach { it.close(CloseReason.CLOSED) }
            }
    }
}
