// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason
import java.net.URI
import java.nio.ByteBuffer
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.ScheduledExecutorService
import java.util.concurrent.ScheduledThreadPoolExecutor
import java.util.concurrent.ThreadFactory
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import java.util.function.Consumer
import org.eclipse.jetty.http.HttpHeader
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
        return JettySocket(transport, ours, open, rules.connectionsMax) { onConnect.accept(transport) }
    }

    private fun pingAll() {
        // A call may throw if its connection closes at the same time. The exception must not stop the pings of the
        // other connections.
        for (each in open) guarded {
            if (each.answered()) each.ping()
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
