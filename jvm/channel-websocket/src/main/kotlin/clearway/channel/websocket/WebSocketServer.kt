// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason
import java.net.URI
import java.nio.ByteBuffer
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.Executors
import java.util.concurrent.ScheduledExecutorService
import java.util.concurrent.TimeUnit
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
 * A server of channels over WebSockets (spec/websocket.md), by Jetty, which the application adds to its dependencies.
 * It listens on 127.0.0.1, refuses pages of other origins than its own and wants a token, unless told otherwise: a page
 * of any site can open a WebSocket to this machine. Has threads of its own, until [close].
 */
public class WebSocketServer
private constructor(private val rules: WebSocketServerOptions, private val onConnect: Consumer<ChannelTransport>) :
    AutoCloseable {
    private val server = Server(QueuedThreadPool().apply { isDaemon = true })
    private val connector = ServerConnector(server, 1, 1)
    private val open = ConcurrentHashMap.newKeySet<JettySocket>()
    private val pings: ScheduledExecutorService =
        Executors.newSingleThreadScheduledExecutor { task ->
            Thread(task, "clearway-channel-pings").apply { isDaemon = true }
        }

    /** Where clients connect to: "ws://127.0.0.1:1234/". */
    public val uri: URI
        get() = URI("ws://${connector.host}:${connector.localPort}${rules.path}")

    /** The token that clients send; null without one. */
    public val token: String?
        get() = rules.token

    /** How many connections there are. */
    public val connections: Int
        get() = open.size

    private fun start() {
        connector.host = rules.host
        connector.port = rules.port
        server.addConnector(connector)
        val context = ContextHandler("/")
        context.handler =
            WebSocketUpgradeHandler.from(server, context) { container ->
                // Silence is looked after by pings.
                container.setIdleTimeout(java.time.Duration.ZERO)
                container.addMapping("/*", ::connect)
            }
        server.handler = context
        server.start()
        pings.scheduleAtFixedRate(::look, rules.pingMs, rules.pingMs, TimeUnit.MILLISECONDS)
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
        return JettySocket(transport, ours, open) { onConnect.accept(transport) }
    }

    private fun look() {
        // One that throws, as it is closed meanwhile, must not be the end of all pings.
        for (each in open) guarded {
            if (each.answered()) each.ping()
            else {
                val what = "no answer to a ping within ${rules.pingMs} ms"
                each.transport.abort(CloseReason(CloseCode.TIMEOUT, what))
            }
        }
    }

    /** Refuses new connections, closes those that are open, and stops; waits for that, some seconds at most. */
    override fun close() {
        connector.close()
        for (each in open) each.transport.close(CloseReason(CloseCode.CLOSED, "the server closes"))
        pings.shutdownNow()
        server.stop()
    }

    public companion object {
        /**
         * Starts a server; `onConnect` is given each connection's transport, on a thread of the server's that it must
         * not block: it calls `Endpoint.connect`. What it throws ends that connection. Throws what Jetty throws where
         * the address is taken.
         */
        @JvmStatic
        public fun start(options: WebSocketServerOptions, onConnect: Consumer<ChannelTransport>): WebSocketServer {
            val server = WebSocketServer(options, onConnect)
            server.start()
            return server
        }

        internal val NO_PAYLOAD: ByteBuffer = ByteBuffer.allocate(0).asReadOnlyBuffer()
    }
}
