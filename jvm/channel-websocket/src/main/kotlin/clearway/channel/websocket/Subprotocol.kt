// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

// Subprotocols that a client offers in the header `Sec-WebSocket-Protocol`. spec/websocket.md says why the token is
// there.

/** Agreed on if both ends are Clearway's. They then exchange marks and echoes as text messages. */
internal const val SUBPROTOCOL = "clearway.channel.1"
private const val TOKEN_PREFIX = "clearway.token."

/** Longer than any key or signed token that Clearway uses. Common servers refuse a header of 8 KiB. */
private const val TOKEN_LENGTH_MAX = 2048
private val tokenCharacters = Regex("[A-Za-z0-9_.~+-]+")

/**
 * Returns the subprotocols that a client offers. Throws `IllegalArgumentException` for a token that a header cannot
 * contain.
 */
internal fun offers(token: String?): List<String> {
    if (token == null) return listOf(SUBPROTOCOL)
    // The message omits the token, because messages are logged.
    require(token.length <= TOKEN_LENGTH_MAX && tokenCharacters.matches(token)) {
        "token must have 1 to $TOKEN_LENGTH_MAX letters, digits or any of - _ . ~ +: length=${token.length}"
    }
    return listOf(SUBPROTOCOL, TOKEN_PREFIX + token)
}

/** Returns the token from the offered subprotocols, or null. */
internal fun offeredToken(offered: List<String>): String? =
    offered.firstOrNull { it.startsWith(TOKEN_PREFIX) }?.substring(TOKEN_PREFIX.length)
