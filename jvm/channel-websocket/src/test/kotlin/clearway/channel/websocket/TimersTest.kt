// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.transport.CloseCode
import clearway.channel.transport.Log
import clearway.channel.transport.TransportLimits
import java.lang.reflect.Proxy
import java.net.InetAddress
import java.net.ServerSocket
import java.net.Socket as TcpSocket
import java.net.URI
import java.nio.ByteBuffer
import java.security.MessageDigest
import java.util.Base64
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.Delayed
import java.util.concurrent.Executors
import java.util.concurrent.FutureTask
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.ScheduledExecutorService
import java.util.concurrent.ScheduledFuture
import java.util.concurrent.TimeUnit
import org.eclipse.jetty.websocket.api.Callback
import org.eclipse.jetty.websocket.api.Session
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Tests of a client's pings, with timers that run only when a test says so. */
class KeepAliveTest {
    private val timers = LinkedBlockingQueue<Pair<Long, () -> Unit>>()
    private val log = Log()
    private val socket = SendingSocket()
    private var nowMs = 0L
    private val pings = ArrayList<Long>()

    private fun after(ms: Long, act: () -> Unit) {
        timers += Pair(ms, act)
    }

    /** Lets the next timer run. */
    private fun pass() {
        val (ms, act) = timers.poll(60, TimeUnit.SECONDS)!!
        nowMs += ms
        act()
    }

    private fun transport(limits: TransportLimits = TransportLimits()) =
        SocketTransport(limits).also {
            it.open(log)
            it.opened(socket)
        }

    private fun keepAlive(transport: SocketTransport, rules: WebSocketPings = WebSocketPings()) =
        KeepAlive(transport, rules, ::after).also { it.start { pings += nowMs } }

    @Test
    fun `a server that sends nothing for pingMs and pongMs is lost`() {
        val transport = transport()
        keepAlive(transport)
        while (!transport.isOver) pass()
        // The time of the last sign of life is known to a step of 5 s.
        assertEquals(35_000, nowMs)
        assertEquals(listOf(20_000L), pings)
        assertEquals(CloseCode.LOST, log.end().code)
        assertEquals("the other end has sent nothing for 30000 ms", log.end().message)
        assertTrue(timers.isEmpty())
    }

    @Test
    fun `a server that sends anything within that time stays`() {
        val transport = transport()
        val keepAlive = keepAlive(transport)
        while (nowMs < 1_000_000) {
            if (nowMs % 25_000 == 0L) keepAlive.heard()
            pass()
        }
        assertEquals(List(50) { (it + 1) * 20_000L }, pings)
        assertFalse(transport.isOver)
        // The last sign of life was at 975,000 ms.
        while (!transport.isOver) pass()
        assertEquals(1_010_000, nowMs)
    }

    @Test
    fun `a server stays while the client does not read`() {
        val transport = transport(TransportLimits(100, 1))
        keepAlive(transport)
        transport.pause()
        while (transport.isRead) transport.binary(ByteBuffer.wrap(ByteArray(100)), true)
        while (nowMs < 100_000) pass()
        assertFalse(transport.isOver)
    }

    @Test
    fun `a client that has closed sends no more pings`() {
        val transport = transport()
        keepAlive(transport)
        transport.close(clearway.channel.transport.CloseReason.CLOSED)
        pass()
        assertEquals(Pair(0, 0), Pair(timers.size, pings.size))
    }

    @Test
    fun `the longest pongMs waits for ever`() {
        val transport = transport()
        keepAlive(transport, WebSocketPings(20_000, Long.MAX_VALUE))
        while (nowMs < 1_000_000) pass()
        assertFalse(transport.isOver)
    }

    @Test
    fun `a reason with half of a surrogate pair is closed with the rest of its text`() {
        assertEquals("? broken", closeText("\uD83D broken"))
        assertEquals("x".repeat(121), closeText("x".repeat(121) + "\uD83D\uDE00"))
    }

    @Test
    fun `a pingMs of 0 turns the pings off, and a negative time is refused`() {
        keepAlive(transport(), WebSocketPings(0))
        assertTrue(timers.isEmpty())
        for (wrong in listOf({ WebSocketPings(-1) }, { WebSocketPings(1, -1) })) assertThrows(
            IllegalArgumentException::class.java
        ) {
            wrong()
        }
    }

    /** Answers the handshake of a WebSocket. */
    private fun admit(client: TcpSocket) {
        val request = client.getInputStream().bufferedReader(Charsets.ISO_8859_1)
        val headers = generateSequence { request.readLine().ifEmpty { null } }.toList()
        val key = headers.single { it.startsWith("Sec-WebSocket-Key: ", ignoreCase = true) }.substringAfter(": ")
        val hash = MessageDigest.getInstance("SHA-1").digest("${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".toByteArray())
        val reply =
            listOf(
                "HTTP/1.1 101 Switching Protocols",
                "Upgrade: websocket",
                "Connection: Upgrade",
                "Sec-WebSocket-Accept: ${Base64.getEncoder().encodeToString(hash)}",
                "Sec-WebSocket-Protocol: $SUBPROTOCOL",
                "\r\n",
            )
        client.getOutputStream().write(reply.joinToString("\r\n").toByteArray())
    }

    private fun withServer(act: (client: SocketTransport, server: TcpSocket) -> Unit) {
        ServerSocket(0, 1, InetAddress.getLoopbackAddress()).use { listening ->
            val uri = URI("ws://${listening.inetAddress.hostAddress}:${listening.localPort}/")
            val client = WebSocketTransport.connect(uri, after = ::after)
            client.open(log)
            listening.accept().use { server ->
                admit(server)
                client.opening.get(60, TimeUnit.SECONDS)
                act(client, server)
            }
        }
    }

    @Test
    fun `a client over the network sends a ping and loses a server that pings and then falls silent`() =
        withServer { client, server ->
            // An empty ping, and then the client's pong with its mask.
            server.getOutputStream().write(byteArrayOf(0x89.toByte(), 0))
            assertEquals(0x8a, server.getInputStream().readNBytes(6)[0].toInt() and 0xff)
            while (nowMs < 20_000) pass()
            assertEquals(0x89, server.getInputStream().readNBytes(6)[0].toInt() and 0xff)
            // The JDK answers a ping before it tells the client, so the silence may begin a few steps later.
            while (!client.isOver) pass()
            assertEquals(CloseCode.LOST, log.end().code)
        }

    @Test
    fun `a client over the network keeps a server that answers its pings only`() = withServer { client, server ->
        val received = server.getInputStream()
        repeat(5) {
            repeat(4) { pass() }
            assertEquals(0x89, received.readNBytes(6)[0].toInt() and 0xff)
            // A pong, and a ping. The client has read the pong when its own pong arrives.
            server.getOutputStream().write(byteArrayOf(0x8a.toByte(), 0, 0x89.toByte(), 0))
            assertEquals(0x8a, received.readNBytes(6)[0].toInt() and 0xff)
        }
        assertEquals(100_000, nowMs)
        assertFalse(client.isOver)
    }
}

/** The timers of a server, whose time advances only when a test calls [pass]. */
internal class FakeTimers : ScheduledExecutorService by Executors.newSingleThreadScheduledExecutor() {
    /** A timer that runs once, unless it is cancelled. */
    class Once(act: Runnable, val ms: Long) : FutureTask<Any?>(act, null), ScheduledFuture<Any?> {
        override fun getDelay(unit: TimeUnit): Long = 0

        override fun compareTo(other: Delayed): Int = 0
    }

    private class Periodic(val act: Runnable, val ms: Long, val catchesUp: Boolean)

    private val periodic = ArrayList<Periodic>()
    val once = LinkedBlockingQueue<Once>()

    override fun schedule(act: Runnable, delay: Long, unit: TimeUnit): ScheduledFuture<*> =
        Once(act, unit.toMillis(delay)).also(once::add)

    override fun scheduleAtFixedRate(act: Runnable, first: Long, period: Long, unit: TimeUnit): ScheduledFuture<*> {
        periodic += Periodic(act, unit.toMillis(period), catchesUp = true)
        return Once({}, 0)
    }

    override fun scheduleWithFixedDelay(act: Runnable, first: Long, delay: Long, unit: TimeUnit): ScheduledFuture<*> {
        periodic += Periodic(act, unit.toMillis(delay), catchesUp = false)
        return Once({}, 0)
    }

    /** Lets time pass at once, as in a pause of the process. Returns the number of runs of periodic timers. */
    fun pass(ms: Long): Int =
        periodic.sumOf { each ->
            val runs = if (each.catchesUp) (ms / each.ms).toInt() else minOf(ms / each.ms, 1).toInt()
            repeat(runs) { each.act.run() }
            runs
        }
}

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
    fun `a peer that does not answer a ping is alive only while bytes of a message move to it`() {
        var sent: Callback? = null
        val session =
            Proxy.newProxyInstance(javaClass.classLoader, arrayOf(Session::class.java)) { _, method, given ->
                if (method.name == "sendBinary") sent = given[1] as Callback
                if (method.name == "isOpen") false else null
            } as Session
        var idleMs = 0L
        val transport = SocketTransport(TransportLimits())
        val socket = JettySocket(transport, true, ConcurrentHashMap.newKeySet(), 1, { idleMs }) {}
        socket.onWebSocketOpen(session)
        transport.open(Log())
        socket.ping()
        assertFalse(socket.answered(1000))
        transport.send(ByteArray(1))
        assertTrue(socket.answered(1000))
        idleMs = 1000
        assertFalse(socket.answered(1000))
        idleMs = 0
        sent!!.succeed()
        assertFalse(socket.answered(1000))
    }

    @Test
    fun `a peer that pings and never reads causes one pong on its way, and then the newest`() {
        val pongs = ArrayList<Pair<Byte, Callback>>()
        val session =
            Proxy.newProxyInstance(javaClass.classLoader, arrayOf(Session::class.java)) { _, method, given ->
                if (method.name == "sendPong") pongs += Pair((given[0] as ByteBuffer).get(), given[1] as Callback)
                null
            } as Session
        val socket = JettySocket(SocketTransport(TransportLimits()), true, ConcurrentHashMap.newKeySet(), 1, { 0 }) {}
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
