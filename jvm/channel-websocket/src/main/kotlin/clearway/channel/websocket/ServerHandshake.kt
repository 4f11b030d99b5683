// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import java.net.URI
import java.net.URISyntaxException
import java.nio.ByteBuffer
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.Future
import java.util.concurrent.ScheduledExecutorService
import java.util.concurrent.TimeUnit
import org.eclipse.jetty.io.Connection

/** The parts of a connection request that the server checks. */
internal class ConnectRequest(
    val path: String,
    val remoteAddress: String,
    val origin: String?,
    val host: String?,
    val offered: List<String>,
    val authorization: String?,
)

/** The reason why a request is refused: an HTTP status and a sentence. */
internal class Refusal(val status: Int, val why: String)

private val bearer = Regex("Bearer +(\\S+)", RegexOption.IGNORE_CASE)
private val loopbackName = Regex("localhost|.+\\.localhost|127(\\.\\d{1,3}){3}|\\[::1]", RegexOption.IGNORE_CASE)
private val loopbackAddress =
    Regex("127(\\.\\d{1,3}){3}|\\[?(::1|0:0:0:0:0:0:0:1|::ffff:127(\\.\\d{1,3}){3})]?", RegexOption.IGNORE_CASE)

/**
 * Checks a request. Returns null if it is accepted, otherwise the refusal. Cheap checks come first; spec/websocket.md
 * defines the order.
 */
internal fun authorize(request: ConnectRequest, connections: Int, rules: WebSocketServerOptions): Refusal? {
    if (request.path != rules.path) return Refusal(404, "no channel here")
    if (!rules.remote && !loopbackAddress.matches(request.remoteAddress)) return Refusal(403, "from this machine only")
    if (!originAllowed(request.origin, request.host, rules.origins))
        return Refusal(403, "pages of this origin may not connect")
    if (connections >= rules.connectionsMax) return Refusal(503, "too many connections")
    val right = rules.token ?: return null
    // A web page cannot set the header `Authorization`, only the header of the subprotocols. Other programs may set
    // either.
    val given =
        offeredToken(request.offered)
            ?: request.authorization?.let { bearer.matchEntire(it) }?.groupValues?.get(1)
            ?: return Refusal(401, "a token is needed")
    return if (sameToken(given, right)) null else Refusal(401, "the token is wrong")
}

// Returns whether a page of this origin may connect. A page of any site can open a WebSocket to this machine. Only the
// header `Origin` distinguishes such pages, and a page cannot forge it. Without a list of origins, the origin must be
// the server's own, and its name must be a loopback name. The second condition defeats DNS rebinding, which resolves a
// site's name to this machine. After DNS rebinding, a page sends the site's name as both origin and host.
private fun originAllowed(origin: String?, host: String?, list: Set<String>?): Boolean {
    if (origin == null) return true
    if (list != null) return origin in list
    val from =
        try {
            URI(origin)
        } catch (_: URISyntaxException) {
            return false
        }
    val name = from.host ?: return false // A file or a sandboxed frame has the origin "null".
    return from.rawAuthority.equals(host, ignoreCase = true) && loopbackName.matches(name)
}

// The subprotocols that a client offers in the header `Sec-WebSocket-Protocol`. spec/websocket.md explains why the
// header also carries the token.

/** The subprotocol of Clearway ends. If both ends agree on it, they exchange marks and echoes as text messages. */
internal const val SUBPROTOCOL = "clearway.channel.1"
private const val TOKEN_PREFIX = "clearway.token."

/**
 * Maximum length of a token, in characters. Keys and signed tokens are usually shorter. Common servers refuse a header
 * of 8 KiB.
 */
private const val TOKEN_LENGTH_MAX = 2048
private val tokenCharacters = Regex("[A-Za-z0-9_.~+-]+")

/**
 * Returns the subprotocols that a client offers. Throws `IllegalArgumentException` for a token that the header cannot
 * carry.
 */
internal fun offers(token: String?): List<String> {
    if (token == null) return listOf(SUBPROTOCOL)
    // The message does not contain the token, because messages are logged.
    require(token.length <= TOKEN_LENGTH_MAX && tokenCharacters.matches(token)) {
        "token must have 1 to $TOKEN_LENGTH_MAX letters, digits or any of - _ . ~ +: length=${token.length}"
    }
    return listOf(SUBPROTOCOL, TOKEN_PREFIX + token)
}

/** Returns the token among the offered subprotocols; null if there is none. */
internal fun offeredToken(offered: List<String>): String? =
    offered.firstOrNull { it.startsWith(TOKEN_PREFIX) }?.substring(TOKEN_PREFIX.length)

/**
 * Ends HTTP connections that have not become a WebSocket within a time. Jetty's own timeout starts again with each
 * byte, so a client that sends its request slowly could keep a connection for hours.
 */
internal class HandshakeLimit(private val timers: ScheduledExecutorService, private val ms: Long) :
    Connection.Listener {
    private val waiting = ConcurrentHashMap<Connection, Future<*>>()

    override fun onOpened(connection: Connection) {
        // A connection that may become another one is still HTTP.
        if (connection is Connection.UpgradeFrom)
            waiting.computeIfAbsent(connection) { timers.schedule({ end(connection) }, ms, TimeUnit.MILLISECONDS) }
    }

    /** Called also when the connection has become a WebSocket. */
    override fun onClosed(connection: Connection) {
        waiting.remove(connection)?.cancel(false)
    }

    private fun end(connection: Connection) {
        // Writes what the socket accepts at once. This thread must not wait for the client.
        guarded { connection.endPoint.flush(ByteBuffer.wrap(REPLY)) }
        connection.endPoint.close()
    }

    private companion object {
        val REPLY = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".toByteArray()
    }
}
