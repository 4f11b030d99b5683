// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason

// The WebSocket status of each close code; spec/websocket.md has the table. Browsers can send only 1000 and 3000 to
// 4999. Clearway's own statuses are therefore in the range for private use.

private val statuses =
    mapOf(
        CloseCode.CLOSED to 1000,
        CloseCode.LOST to 4001,
        CloseCode.PROTOCOL to 4002,
        CloseCode.TOO_LARGE to 4003,
        CloseCode.REFUSED to 4004,
        CloseCode.TIMEOUT to 4005,
        CloseCode.FAILED to 4006,
    )
private val ours = statuses.entries.associate { it.value to it.key }

/** Maximum size of the text in a close frame, in bytes. */
private const val TEXT_BYTES = 123

internal fun closeStatus(code: CloseCode): Int = statuses.getValue(code)

/** Returns the beginning of a message that fits in a close frame. Does not split a character. */
internal fun closeText(message: String): String {
    var text = message.take(TEXT_BYTES)
    while (text.toByteArray().size > TEXT_BYTES || text.lastOrNull()?.isHighSurrogate() == true) text = text.dropLast(1)
    return text
}

/**
 * Returns the close reason for a received close frame. If the status is not one of Clearway's, the detail contains the
 * status.
 */
internal fun readStatus(status: Int, text: String): CloseReason {
    ours[status]?.let {
        return CloseReason(it, text.ifEmpty { it.code })
    }
    val code =
        when (status) {
            1002,
            1003,
            1007 -> CloseCode.PROTOCOL
            1006 -> CloseCode.LOST
            1008,
            1013 -> CloseCode.REFUSED
            1009 -> CloseCode.TOO_LARGE
            1010,
            1011,
            1014,
            1015 -> CloseCode.FAILED
            else -> CloseCode.CLOSED
        }
    val words = if (code == CloseCode.LOST) "the connection broke" else "closed with status $status"
    return CloseReason(code, text.ifEmpty { words }, mapOf("closeCode" to status))
}
