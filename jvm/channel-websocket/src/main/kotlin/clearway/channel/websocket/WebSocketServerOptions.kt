// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.transport.TransportLimits
import java.security.MessageDigest
import java.security.SecureRandom
import java.util.Base64

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
     * nothing arrives between two pings.
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
