// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason
import clearway.channel.transport.TransportLimits
import java.io.IOException
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpTimeoutException
import java.net.http.WebSocket
import java.net.http.WebSocketHandshakeException
import java.nio.ByteBuffer
import java.time.Duration
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionException
import java.util.concurrent.CompletionStage

/** Connects clients to channels over WebSockets (spec/websocket.md), with the JDK's own HTTP client. */
public object WebSocketTransport {
    private val OPEN_WITHIN = Duration.ofSeconds(30)
    private val sharedClient: HttpClient by lazy {
        // The client starts a thread that inherits from this one. So a thread of our own creates the client.
        val made = CompletableFuture<HttpClient>()
        ownThread("clearway-channel-websocket-start") {
                made.completeAsync({ HttpClient.newBuilder().executor(DeliveryThreads).build() }, Runnable::run)
            }
            .start()
        made.join()
    }

    /**
     * Starts to connect and returns at once. Frames wait until the connection is open. The transport closes with
     * `refused` if the server refuses the connection, and with `failed` if the server cannot be reached. It closes with
     * `timeout` if the server does not answer within 30 s. Copies each incoming frame once. If the peer is not a
     * Clearway end, only binary messages are exchanged. The transport closes with `lost` if the server falls silent.
     *
     * @param token the token for the server, or null. It is sent in a header and not in the address, because addresses
     *   are logged.
     * @param client the HTTP client, whose connections, threads, proxy and TLS settings are used. The default is one
     *   client for the process. Its threads, at most 64, call the sinks. One client for each connection would add one
     *   or two threads each.
     * @param pings how the client notices a server that has gone silent. By default, after 30 s.
     * @throws IllegalArgumentException for a token that a header cannot contain
     */
    @JvmStatic
    @JvmOverloads
    public fun connect(
        uri: URI,
        token: String? = null,
        limits: TransportLimits = TransportLimits(),
        client: HttpClient = sharedClient,
        pings: WebSocketPings = WebSocketPings(),
    ): ChannelTransport = connect(uri, token, limits, client, pings) { ms, act -> SocketTimers.after(ms, act) }

    /** Connects with these timers. */
    internal fun connect(
        uri: URI,
        token: String? = null,
        limits: TransportLimits = TransportLimits(),
        client: HttpClient = sharedClient,
        pings: WebSocketPings = WebSocketPings(),
        after: (ms: Long, act: () -> Unit) -> Unit,
    ): SocketTransport {
        val offered = offers(token)
        val transport = SocketTransport(limits)
        val keepAlive = KeepAlive(transport, pings, after)
        val listener = Listener(transport, keepAlive)
        client
            .newWebSocketBuilder()
            .connectTimeout(OPEN_WITHIN)
            .subprotocols(offered[0], *offered.drop(1).toTypedArray())
            .buildAsync(uri, listener)
            .whenComplete { socket, thrown ->
                if (thrown != null) transport.ended(notOpened((thrown as? CompletionException)?.cause ?: thrown))
                else {
                    transport.opened(JdkSocket(socket))
                    // A ping that cannot be sent is no error: then nothing arrives, or the listener gets the end.
                    keepAlive.start { socket.sendPing(ByteBuffer.allocate(0)) }
                }
            }
        return transport
    }

    private fun notOpened(thrown: Throwable): CloseReason {
        if (thrown is WebSocketHandshakeException) {
            val status = thrown.response.statusCode()
            return CloseReason(CloseCode.REFUSED, "the server answered $status", mapOf("status" to status), thrown)
        }
        val code = if (thrown is HttpTimeoutException) CloseCode.TIMEOUT else CloseCode.FAILED
        return CloseReason(code, "the connection could not be opened: ${thrown.message ?: thrown}", emptyMap(), thrown)
    }
}

private class JdkSocket(private val socket: WebSocket) : Socket {
    override val isOurs: Boolean = socket.subprotocol == SUBPROTOCOL

    override fun binary(message: ByteArray, sent: () -> Unit) =
        after(socket.sendBinary(ByteBuffer.wrap(message), true), sent)

    override fun text(message: String, sent: () -> Unit) = after(socket.sendText(message, true), sent)

    override fun close(status: Int, text: String, sent: () -> Unit) = after(socket.sendClose(status, text), sent)

    override fun demand(): Unit = socket.request(1)

    override fun abort(): Unit = socket.abort()

    // A failed send is ignored, because the listener is notified of the end.
    private fun after(sending: CompletableFuture<WebSocket>, sent: () -> Unit) {
        sending.whenComplete { _, _ -> sent() }
    }
}

/**
 * Forwards the JDK's events to the transport. `onOpen` requests no message, because the transport requests messages one
 * at a time.
 */
private class Listener(private val transport: SocketTransport, private val keepAlive: KeepAlive) : WebSocket.Listener {
    override fun onOpen(socket: WebSocket) {}

    override fun onBinary(socket: WebSocket, data: ByteBuffer, last: Boolean): CompletionStage<*>? {
        keepAlive.heard()
        transport.binary(data, last)
        return null
    }

    override fun onText(socket: WebSocket, data: CharSequence, last: Boolean): CompletionStage<*>? {
        keepAlive.heard()
        transport.text(data.toString(), last)
        return null
    }

    override fun onPing(socket: WebSocket, message: ByteBuffer): CompletionStage<*>? {
        keepAlive.heard()
        socket.request(1)
        return null
    }

    override fun onPong(socket: WebSocket, message: ByteBuffer): CompletionStage<*>? {
        keepAlive.heard()
        socket.request(1)
        return null
    }

    override fun onClose(socket: WebSocket, statusCode: Int, reason: String): CompletionStage<*>? {
        transport.closed(statusCode, reason)
        return null
    }

    override fun onError(socket: WebSocket, error: Throwable) {
        val code = if (error is IOException) CloseCode.LOST else CloseCode.FAILED
        transport.ended(CloseReason(code, "the connection broke: ${messageOf(error)}", emptyMap(), error))
    }
}

/** Returns an error's class name and message. Some errors of the JDK have a message only in their cause. */
private fun messageOf(error: Throwable): String {
    val words = error.message ?: error.cause?.message
    return if (words == null) error.toString() else "${error.javaClass.simpleName}: $words"
}
