// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

/** An open WebSocket of some library. It calls its transport, one call at a time. */
internal interface Socket {
    /** Whether the subprotocol was agreed on: the other end is Clearway's. */
    val isOurs: Boolean

    /** Sends; calls back when the next may be sent, perhaps from within. Given one at a time. */
    fun binary(message: ByteArray, sent: () -> Unit)

    fun text(message: String, sent: () -> Unit)

    fun close(status: Int, text: String, sent: () -> Unit)

    /** Requests the next message, part of one, or close. */
    fun demand()

    /** Ends the connection without waiting for the other end. */
    fun abort()
}
