// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

// Back-pressure between two Clearway ends. The sender requests it: each time half of its own window has left, it sends
// a mark with the number of bytes sent so far. The receiver echoes the mark after it has consumed everything before the
// mark. So the ends need not agree on a window. Marks are text messages, because frames are binary messages:
//
//     "mark 1048600"      the sender has sent this many bytes of frames, plus 8 per frame
//     "taken 1048600"     the receiver has consumed them

private val form = Regex("(mark|taken) (\\d{1,16})")

internal class Mark(val word: String, val total: Long)

/** Parses a mark. Returns null for any other text. */
internal fun readMark(text: String): Mark? =
    form.matchEntire(text)?.destructured?.let { (word, total) -> Mark(word, total.toLong()) }

/** Returns the bytes that a frame counts in the window. An empty frame counts, too. */
internal fun weight(frame: ByteArray): Long = frame.size + 8L

/** Returns the bytes that a waiting frame or text counts. */
internal fun weight(message: Any): Long = if (message is ByteArray) weight(message) else (message as String).length + 8L

/** The sender's half of the window. Pure. */
internal class MarkedWindow(private val windowBytes: Long) {
    private var sent = 0L
    private var marked = 0L
    private var taken = 0L
    var full = false
        private set

    /** Counts sent bytes. Returns the total for the mark that must follow them, or -1 if none is due. */
    fun sent(bytes: Long): Long {
        sent += bytes
        if (sent - taken >= windowBytes) full = true
        if ((sent - marked) * 2 < windowBytes) return -1
        marked = sent
        return sent
    }

    /** Handles an echoed mark. Returns null if it was never sent, else whether to report `drained`. */
    fun taken(total: Long): Boolean? {
        if (total <= taken || total > marked) return null
        taken = total
        if (!full || (sent - total) * 2 > windowBytes) return false
        full = false
        return true
    }
}
