// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.transport.TransportLimits
import java.security.MessageDigest
import java.security.SecureRandom
import java.util.Base64

/** How a server is set up; what is not said is safe. Not for several threads at once. */
public class WebSocketServerOptions {
    internal var host = "127.0.0.1"
    internal var port = 0
    internal var path = "/"
    internal var token: String? = randomToken()
    internal var origins: Set<String>? = null
    internal var remote = false
    internal var connectionsMax = 64
    internal var pingMs = 15_000L
    internal var limits = TransportLimits()

    /** The address; default 127.0.0.1, which no other machine can reach. */
    public fun host(host: String): WebSocketServerOptions = apply { this.host = host }

    /** The port; default 0: one that is free. */
    public fun port(port: Int): WebSocketServerOptions = apply {
        require(port in 0..0xffff) { "port must be from 0 to 65535: port=$port" }
        this.port = port
    }

    /** The path of the channel; default "/". */
    public fun path(path: String): WebSocketServerOptions = apply {
        require(path.startsWith("/") && "?" !in path) { "path must be as \"/channel\": path=$path" }
        this.path = path
    }

    /** The token that clients must send; default a random one, in [WebSocketServer.token]. */
    public fun token(token: String): WebSocketServerOptions = apply {
        offers(token)
        this.token = token
    }

    /** No token: every program on this machine may connect. */
    public fun withoutToken(): WebSocketServerOptions = apply { token = null }

    /**
     * The origins whose pages may connect, such as "https://example.com". Default: the server's own, under a name of
     * this machine. Programs that are not browsers send none; the token is for them.
     */
    public fun origins(vararg origins: String): WebSocketServerOptions = apply { this.origins = origins.toSet() }

    /** Lets connections from other machines in. Put TLS in front of it. */
    public fun remote(): WebSocketServerOptions = apply { remote = true }

    /** How many connections there may be at once; default 64. */
    public fun connectionsMax(count: Int): WebSocketServerOptions = apply {
        require(count >= 1) { "connectionsMax must be 1 or more: connectionsMax=$count" }
        connectionsMax = count
    }

    /** A connection that was silent for so long is pinged, and ended after as long again; ms, default 15,000. */
    public fun pingMs(ms: Long): WebSocketServerOptions = apply {
        require(ms >= 1) { "pingMs must be 1 or more: pingMs=$ms" }
        pingMs = ms
    }

    /** Bounds of each connection; the default of 64 MiB a frame is for trusted ends. */
    public fun limits(limits: TransportLimits): WebSocketServerOptions = apply { this.limits = limits }
}

/** 256 random bits. */
private fun randomToken(): String {
    val bytes = ByteArray(32).also { SecureRandom().nextBytes(it) }
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes)
}

/** Whether they are the same, in a time that does not tell where they differ, nor how long the right one is. */
internal fun sameToken(given: String, right: String): Boolean {
    fun digest(text: String) = MessageDigest.getInstance("SHA-256").digest(text.toByteArray())
    return MessageDigest.isEqual(digest(given), digest(right))
}
