// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

/** An open WebSocket of a library. It reports its events to its transport, one at a time. */
internal interface Socket {
    /** Whether both ends agreed on Clearway's subprotocol, so that the peer is a Clearway end. */
    val isOurs: Boolean

    /**
     * Sends a binary message. Calls `sent` when the next message may be sent, possibly before this function returns.
     * The transport sends one message at a time.
     */
    fun binary(message: ByteArray, sent: () -> Unit)

    fun text(message: String, sent: () -> Unit)

    fun close(status: Int, text: String, sent: () -> Unit)

    /** Requests the next message, the next part of a message, or the close. */
    fun demand()

    /** Closes the connection without a closing handshake. */
    fun abort()
}
