// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

// Back-pressure between two Clearway ends. Each time a sender has sent half of its own window, it also sends a mark.
// The mark contains the number of bytes that the sender has sent so far. The receiver echoes the mark after it has
// consumed everything before the mark. The ends therefore need not agree on a window. Marks are text messages, because
// frames are binary messages:
//
//     "mark 1048600"      the sender has sent this number of bytes; each frame counts its size plus 8
//     "taken 1048600"     the receiver has consumed these bytes

private val form = Regex("(mark|taken) (\\d{1,16})")

internal class Mark(val kind: String, val total: Long)

/** Parses a mark. Returns null for any other text. */
internal fun readMark(text: String): Mark? =
    form.matchEntire(text)?.destructured?.let { (kind, total) -> Mark(kind, total.toLong()) }

/** Returns the number of bytes that a frame counts in the window. The extra 8 bytes make an empty frame count, too. */
internal fun weight(frame: ByteArray): Long = frame.size + 8L

/**
 * What a waiting frame or text is charged in addition to its bytes, in bytes, for its objects. An endpoint charges the
 * same (`OBJECT_BYTES` of the module `channel`, with its reason). The marks do not count it.
 */
internal const val OBJECT_BYTES = 128L

/** The factor by which the charge of a frame exceeds its weight at most: the factor of an empty frame. */
internal const val CHARGE_MAX = OBJECT_BYTES / 8

/** Returns the number of bytes that a waiting frame or text is charged. A character takes up to two bytes. */
internal fun charge(message: Any): Long =
    OBJECT_BYTES + if (message is ByteArray) message.size else (message as String).length * 2

/** The sender's part of the window. Does no I/O. */
internal class MarkedWindow(private val windowBytes: Long) {
    private var sent = 0L
    private var marked = 0L
    private var taken = 0L
    var full = false
        private set

    /** Counts sent bytes. Returns the total for the mark that must follow these bytes, or -1 if no mark is due. */
    fun sent(bytes: Long): Long {
        sent += bytes
        if (sent - taken >= windowBytes) full = true
        if ((sent - marked) * 2 < windowBytes) return -1
        marked = sent
        return sent
    }

    /**
     * Handles an echoed mark. Returns null if this end never sent the mark. Otherwise returns whether the sink's
     * `drained` must be called.
     */
    fun taken(total: Long): Boolean? {
        if (total <= taken || total > marked) return null
        taken = total
        if (!full || (sent - total) * 2 > windowBytes) return false
        full = false
        return true
    }
}
