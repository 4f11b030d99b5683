// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason
import clearway.channel.transport.TransportLimits
import java.net.URI
import java.nio.ByteBuffer
import java.security.MessageDigest
import java.security.SecureRandom
import java.util.Base64
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.ScheduledExecutorService
import java.util.concurrent.ScheduledThreadPoolExecutor
import java.util.concurrent.ThreadFactory
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import java.util.function.Consumer
import org.eclipse.jetty.http.HttpHeader
import org.eclipse.jetty.io.IdleTimeout
import org.eclipse.jetty.server.Request
import org.eclipse.jetty.server.Response
import org.eclipse.jetty.server.Server
import org.eclipse.jetty.server.ServerConnector
import org.eclipse.jetty.server.handler.ContextHandler
import org.eclipse.jetty.util.Callback
import org.eclipse.jetty.util.thread.QueuedThreadPool
import org.eclipse.jetty.websocket.server.ServerUpgradeRequest
import org.eclipse.jetty.websocket.server.ServerUpgradeResponse
import org.eclipse.jetty.websocket.server.WebSocketUpgradeHandler

/**
 * A server for channels over WebSockets (spec/websocket.md). It uses Jetty, which the application must add to its
 * dependencies. A page of any site can open a WebSocket to this machine. By default, the server therefore listens on
 * 127.0.0.1, refuses pages of other origins and requires a token. The server owns threads until [close].
 */
public class WebSocketServer
internal constructor(
    private val rules: WebSocketServerOptions,
    private val onConnect: Consumer<ChannelTransport>,
    private val timers: ScheduledExecutorService = timerThread(),
) : AutoCloseable {
    private val server = Server(serverThreads())
    private val connector = ServerConnector(server, 1, 1)
    private val open = ConcurrentHashMap.newKeySet<JettySocket>()

    /** The address for clients, such as "ws://127.0.0.1:1234/". */
    public val uri: URI
        get() = URI("ws://${connector.host}:${connector.localPort}${rules.path}")

    /** The token that clients must send; null if the server requires none. */
    public val token: String?
        get() = rules.token

    /** The number of open connections. */
    public val connections: Int
        get() = open.size

    internal fun start() {
        connector.host = rules.host
        connector.port = rules.port
        connector.addEventListener(HandshakeLimit(timers, rules.handshakeMs))
        server.addConnector(connector)
        val context = ContextHandler("/")
        context.handler =
            WebSocketUpgradeHandler.from(server, context) { container ->
                // The pings detect connections that no longer respond, so Jetty's timeout is off.
                container.setIdleTimeout(java.time.Duration.ZERO)
                container.addMapping("/*", ::connect)
            }
        server.handler = context
        server.start()
        // With a fixed rate, the pings that a pause of the process missed would follow each other at once, and no
        // connection could answer in between.
        timers.scheduleWithFixedDelay(::pingAll, rules.pingMs, rules.pingMs, TimeUnit.MILLISECONDS)
    }

    private fun connect(request: ServerUpgradeRequest, response: ServerUpgradeResponse, callback: Callback): Any? {
        val headers = request.headers
        val asking =
            ConnectRequest(
                request.httpURI.path,
                Request.getRemoteAddr(request),
                headers.get(HttpHeader.ORIGIN),
                headers.get(HttpHeader.HOST),
                request.subProtocols,
                headers.get(HttpHeader.AUTHORIZATION),
            )
        val refusal = authorize(asking, open.size, rules)
        if (refusal != null) {
            Response.writeError(request, response, callback, refusal.status, refusal.why)
            return null
        }
        val ours = SUBPROTOCOL in request.subProtocols
        if (ours) response.acceptedSubProtocol = SUBPROTOCOL
        val transport = SocketTransport(rules.limits)
        val link = request.connectionMetaData.connection.endPoint as? IdleTimeout
        val idleMs = { link?.idleFor ?: Long.MAX_VALUE }
        return JettySocket(transport, ours, open, rules.connectionsMax, idleMs) { onConnect.accept(transport) }
    }

    private fun pingAll() {
        // A call may throw if its connection closes at the same time. The exception must not stop the pings of the
        // other connections.
        for (each in open) guarded {
            if (each.answered(rules.pingMs)) each.ping()
            else {
                val what = "no answer to a ping within ${rules.pingMs} ms"
                each.transport.abort(CloseReason(CloseCode.TIMEOUT, what))
            }
        }
    }

    /**
     * Refuses new connections, closes the open ones, and stops the server. Blocks until the server has stopped, for
     * some seconds at most.
     */
    override fun close() {
        connector.close()
        for (each in open) each.transport.close(CloseReason(CloseCode.CLOSED, "the server closes"))
        timers.shutdownNow()
        server.stop()
    }

    public companion object {
        /**
         * Starts a server. Calls `onConnect` with the transport of each connection, on a thread of the server.
         * `onConnect` must not block and should call `Endpoint.connect`. If it throws, that connection ends. Throws
         * Jetty's exception if the address is in use.
         */
        @JvmStatic
        public fun start(options: WebSocketServerOptions, onConnect: Consumer<ChannelTransport>): WebSocketServer {
            val server = WebSocketServer(options, onConnect)
            server.start()
            return server
        }

        // Jetty's defaults, but with threads that inherit nothing.
        private fun serverThreads(): QueuedThreadPool {
            val count = AtomicInteger()
            val threads = ThreadFactory { ownThread("clearway-channel-server-${count.incrementAndGet()}", it) }
            return QueuedThreadPool(THREADS_MAX, THREADS_MIN, THREAD_IDLE_MS, -1, null, null, threads)
        }

        private const val THREADS_MAX = 200
        private const val THREADS_MIN = 8
        private const val THREAD_IDLE_MS = 60_000

        private fun timerThread() =
            ScheduledThreadPoolExecutor(1) { task -> ownThread("clearway-channel-server-timer", task) }
                // Without this policy, the timer of an admitted client would keep its connection until the time limit.
                .apply { removeOnCancelPolicy = true }

        internal val NO_PAYLOAD: ByteBuffer = ByteBuffer.allocate(0).asReadOnlyBuffer()
    }
}

/** The options of a server. The defaults are safe. Not thread-safe. */
public class WebSocketServerOptions {
    internal var host = "127.0.0.1"
    internal var port = 0
    internal var path = "/"
    internal var token: String? = randomToken()
    internal var origins: Set<String>? = null
    internal var remote = false
    internal var connectionsMax = 64
    internal var handshakeMs = 10_000L
    internal var pingMs = 15_000L
    internal var limits = TransportLimits()

    /** Sets the address to listen on. The default is 127.0.0.1, which other machines cannot reach. */
    public fun host(host: String): WebSocketServerOptions = apply { this.host = host }

    /** Sets the port. The default is 0, which selects a free port. */
    public fun port(port: Int): WebSocketServerOptions = apply {
        require(port in 0..0xffff) { "port must be from 0 to 65535: port=$port" }
        this.port = port
    }

    /** Sets the path of the channel in the server's address. The default is "/". */
    public fun path(path: String): WebSocketServerOptions = apply {
        require(path.startsWith("/") && "?" !in path) { "path must be as \"/channel\": path=$path" }
        this.path = path
    }

    /**
     * Sets the token that clients must send. By default the server creates a random one, which [WebSocketServer.token]
     * returns.
     */
    public fun token(token: String): WebSocketServerOptions = apply {
        offers(token)
        this.token = token
    }

    /** Accepts clients without a token. Every program on this machine may then connect. */
    public fun withoutToken(): WebSocketServerOptions = apply { token = null }

    /**
     * Sets the origins whose pages may connect, such as "https://example.com". By default, only pages of the server's
     * own origin may connect, under a loopback name. Programs other than browsers may send no origin; the token
     * protects the server from them.
     */
    public fun origins(vararg origins: String): WebSocketServerOptions = apply { this.origins = origins.toSet() }

    /** Accepts connections from other machines. In that case, put TLS in front of the server. */
    public fun remote(): WebSocketServerOptions = apply { remote = true }

    /** Sets the maximum number of connections. The default is 64. */
    public fun connectionsMax(count: Int): WebSocketServerOptions = apply {
        require(count >= 1) { "connectionsMax must be 1 or more: connectionsMax=$count" }
        connectionsMax = count
    }

    /**
     * Sets the time in which a client must be admitted, in milliseconds, from the start of its connection. The default
     * is 10,000. The server answers a slower client with the status 408 and closes the connection.
     */
    public fun handshakeMs(ms: Long): WebSocketServerOptions = apply {
        require(ms >= 1) { "handshakeMs must be 1 or more: handshakeMs=$ms" }
        handshakeMs = ms
    }

    /**
     * Sets the interval between pings, in milliseconds. The default is 15,000. The server ends a connection from which
     * nothing arrives between two pings, unless bytes of a large message move.
     */
    public fun pingMs(ms: Long): WebSocketServerOptions = apply {
        require(ms >= 1) { "pingMs must be 1 or more: pingMs=$ms" }
        pingMs = ms
    }

    /** Sets the limits of each connection. The default limit of 64 MiB per frame is meant for trusted peers. */
    public fun limits(limits: TransportLimits): WebSocketServerOptions = apply { this.limits = limits }
}

/** Returns 256 random bits as text. */
private fun randomToken(): String {
    val bytes = ByteArray(32).also { SecureRandom().nextBytes(it) }
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes)
}

/**
 * Compares two tokens. The time that it takes reveals neither the first difference nor the length of the right token.
 */
internal fun sameToken(given: String, right: String): Boolean {
    fun digest(text: String) = MessageDigest.getInstance("SHA-256").digest(text.toByteArray())
    return MessageDigest.isEqual(digest(given), digest(right))
}
