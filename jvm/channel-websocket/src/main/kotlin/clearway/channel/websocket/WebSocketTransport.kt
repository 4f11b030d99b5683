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

/** Joins the parts of a message. Checks the size limit before it stores a part. */
internal class MessageAssembler(private val bytesMax: Int) {
    private var bytes = ByteArray(0)
    private var filled = 0
    private val text = StringBuilder()

    /** Copies a part. Returns false, and copies nothing, if the message would exceed the limit. */
    fun add(part: ByteBuffer): Boolean {
        val count = part.remaining()
        if (count > bytesMax - filled) return false
        if (filled + count > bytes.size) {
            // The first part gets a buffer of its exact size. For further parts, the buffer doubles.
            val size =
                if (filled == 0) count else maxOf(filled + count, minOf(bytes.size * 2L, bytesMax.toLong()).toInt())
            bytes = bytes.copyOf(size)
        }
        part.get(bytes, filled, count)
        filled += count
        return true
    }

    /** Returns the message in memory of its exact size, and starts the next message. */
    fun take(): ByteArray {
        val whole = if (filled == bytes.size) bytes else bytes.copyOf(filled)
        bytes = ByteArray(0)
        filled = 0
        return whole
    }

    /** Adds a part of a text message. Returns false if the text is longer than any mark. */
    fun addText(part: String): Boolean {
        text.append(part)
        return text.length <= TEXT_MAX
    }

    fun takeText(): String = text.toString().also { text.setLength(0) }

    private companion object {
        const val TEXT_MAX = 1024
    }
}

// Back-pressure between two Clearway ends. Each time a sender has sent half of its own window, it also sends a mark.
// The mark contains the number of bytes that the sender has sent so far. The receiver echoes the mark after it has
// consumed everything before the mark. The ends therefore need not agree on a window. Marks are text messages, because
// frames are binary messages:
//
//     "mark 1048600"      the sender has sent this number of bytes; each frame counts its size plus 8
//     "taken 1048600"     the receiver has consumed these bytes

private val form = Regex("(mark|taken) (\\d{1,16})")

internal class Mark(val kind: String, val total: Long)

/** Parses a mark. Returns null for any other text. */
internal fun readMark(text: String): Mark? =
    form.matchEntire(text)?.destructured?.let { (kind, total) -> Mark(kind, total.toLong()) }

/** Returns the number of bytes that a frame counts in the window. The extra 8 bytes make an empty frame count, too. */
internal fun weight(frame: ByteArray): Long = frame.size + 8L

/**
 * What a waiting frame or text is charged in addition to its bytes, in bytes, for its objects. An endpoint charges the
 * same (`OBJECT_BYTES` of the module `channel`, with its reason). The marks do not count it.
 */
internal const val OBJECT_BYTES = 128L

/** The factor by which the charge of a frame exceeds its weight at most: the factor of an empty frame. */
internal const val CHARGE_MAX = OBJECT_BYTES / 8

/** Returns the number of bytes that a waiting frame or text is charged. A character takes up to two bytes. */
internal fun charge(message: Any): Long =
    OBJECT_BYTES + if (message is ByteArray) message.size else (message as String).length * 2

/** The sender's part of the window. Does no I/O. */
internal class MarkedWindow(private val windowBytes: Long) {
    private var sent = 0L
    private var marked = 0L
    private var taken = 0L
    var full = false
        private set

    /** Counts sent bytes. Returns the total for the mark that must follow these bytes, or -1 if no mark is due. */
    fun sent(bytes: Long): Long {
        sent += bytes
        if (sent - taken >= windowBytes) full = true
        if ((sent - marked) * 2 < windowBytes) return -1
        marked = sent
        return sent
    }

    /**
     * Handles an echoed mark. Returns null if this end never sent the mark. Otherwise returns whether the sink's
     * `drained` must be called.
     */
    fun taken(total: Long): Boolean? {
        if (total <= taken || total > marked) return null
        taken = total
        if (!full || (sent - total) * 2 > windowBytes) return false
        full = false
        return true
    }
}
