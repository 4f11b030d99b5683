// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

// What a client offers in the header `Sec-WebSocket-Protocol`. spec/websocket.md says why the token stands there.

/** Both ends are Clearway's: marks and their echoes pass as text messages. */
internal const val SUBPROTOCOL = "clearway.channel.1"
private const val TOKEN_PREFIX = "clearway.token."

/** Longer than any key or signed token of ours; a header of 8 KiB is refused by common servers. */
private const val TOKEN_LENGTH_MAX = 2048
private val tokenCharacters = Regex("[A-Za-z0-9_.~+-]+")

/** The subprotocols that a client offers. Throws IllegalArgumentException for a token that no header can hold. */
internal fun offers(token: String?): List<String> {
    if (token == null) return listOf(SUBPROTOCOL)
    // Not the token itself: messages are logged.
    require(token.length <= TOKEN_LENGTH_MAX && tokenCharacters.matches(token)) {
        "token must have 1 to $TOKEN_LENGTH_MAX letters, digits or any of - _ . ~ +: length=${token.length}"
    }
    return listOf(SUBPROTOCOL, TOKEN_PREFIX + token)
}

/** The token among the subprotocols that were offered. */
internal fun offeredToken(offered: List<String>): String? =
    offered.firstOrNull { it.startsWith(TOKEN_PREFIX) }?.substring(TOKEN_PREFIX.length)
