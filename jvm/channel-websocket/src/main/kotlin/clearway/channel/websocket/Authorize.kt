// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import java.net.URI
import java.net.URISyntaxException

/** The parts of a request to connect that decide whether it is allowed. */
internal class ConnectRequest(
    val path: String,
    val remoteAddress: String,
    val origin: String?,
    val host: String?,
    val offered: List<String>,
    val authorization: String?,
)

/** A refusal, as an HTTP status and a sentence. */
internal class Refusal(val status: Int, val why: String)

private val bearer = Regex("Bearer +(\\S+)", RegexOption.IGNORE_CASE)
private val loopbackName = Regex("localhost|.+\\.localhost|127(\\.\\d{1,3}){3}|\\[::1]", RegexOption.IGNORE_CASE)
private val loopbackAddress =
    Regex("127(\\.\\d{1,3}){3}|\\[?(::1|0:0:0:0:0:0:0:1|::ffff:127(\\.\\d{1,3}){3})]?", RegexOption.IGNORE_CASE)

/** Returns null if a request is allowed. The cheapest checks come first, in the order of spec/websocket.md. */
internal fun authorize(request: ConnectRequest, connections: Int, rules: WebSocketServerOptions): Refusal? {
    if (request.path != rules.path) return Refusal(404, "no channel here")
    if (!rules.remote && !loopbackAddress.matches(request.remoteAddress)) return Refusal(403, "from this machine only")
    if (!originAllowed(request.origin, request.host, rules.origins))
        return Refusal(403, "pages of this origin may not connect")
    if (connections >= rules.connectionsMax) return Refusal(503, "too many connections")
    val right = rules.token ?: return null
    // A page has the subprotocols' header alone; other programs may send the usual one.
    val given =
        offeredToken(request.offered)
            ?: request.authorization?.let { bearer.matchEntire(it) }?.groupValues?.get(1)
            ?: return Refusal(401, "a token is needed")
    return if (sameToken(given, right)) null else Refusal(401, "the token is wrong")
}

// A page of any site may open a WebSocket to this machine; all that tells it apart is `Origin`, which pages cannot
// forge.
// Without a list it must be the server's own, on a loopback name: a site whose name was made to point to this machine
// (DNS
// rebinding) sends its own name as both.
private fun originAllowed(origin: String?, host: String?, list: Set<String>?): Boolean {
    if (origin == null) return true
    if (list != null) return origin in list
    val from =
        try {
            URI(origin)
        } catch (_: URISyntaxException) {
            return false
        }
    val name = from.host ?: return false // "null", of a file or a sandboxed frame
    return from.rawAuthority.equals(host, ignoreCase = true) && loopbackName.matches(name)
}
