// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

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
