// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

/** An open WebSocket of a library. It calls its transport, one event at a time. */
internal interface Socket {
    /** Whether the ends agreed on the subprotocol: the peer is a Clearway end. */
    val isOurs: Boolean

    /**
     * Sends a message. Calls `sent` when the next message may be sent, possibly before it returns. The transport sends
     * one message at a time.
     */
    fun binary(message: ByteArray, sent: () -> Unit)

    fun text(message: String, sent: () -> Unit)

    fun close(status: Int, text: String, sent: () -> Unit)

    /** Requests the next message, a part of it, or the close. */
    fun demand()

    /** Closes the connection without a closing handshake. */
    fun abort()
}
