// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

/** A WebSocket of some library, open. What it tells, it tells its transport, one thing at a time. */
internal interface Socket {
    /** Whether the subprotocol was agreed on: the other end is Clearway's. */
    val isOurs: Boolean

    /** Sends; calls back when the next may be sent, perhaps from within. Given one at a time. */
    fun binary(message: ByteArray, sent: () -> Unit)

    fun text(message: String, sent: () -> Unit)

    fun close(status: Int, text: String, sent: () -> Unit)

    /** Asks for the next message, or the part of one, or the close. */
    fun demand()

    /** Ends it without the other end's consent. */
    fun abort()
}
