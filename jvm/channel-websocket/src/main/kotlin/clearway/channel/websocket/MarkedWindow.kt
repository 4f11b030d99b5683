// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

// Backpressure to the other end's reader, where both ends are Clearway's. The sender asks: whenever half of its own
// window
// has left, it sends a mark with all that it has sent so far; the receiver echoes the mark when it has taken what came
// before it. So the ends need not agree on a window. Text messages, because frames are binary ones:
//
//   "mark 1048600"      the sender has sent so many bytes of frames, 8 added for each
//   "taken 1048600"     the receiver has taken them

private val form = Regex("(mark|taken) (\\d{1,16})")

internal class Mark(val word: String, val total: Long)

/** Null for any other text. */
internal fun readMark(text: String): Mark? =
    form.matchEntire(text)?.destructured?.let { (word, total) -> Mark(word, total.toLong()) }

/** A frame's size in a window; an empty frame counts too. */
internal fun weight(frame: ByteArray): Long = frame.size + 8L

/** Size of a frame or a text that waits here. */
internal fun weight(message: Any): Long = if (message is ByteArray) weight(message) else (message as String).length + 8L

/** The sender's half, a pure value. */
internal class MarkedWindow(private val windowBytes: Long) {
    private var sent = 0L
    private var marked = 0L
    private var taken = 0L
    var full = false
        private set

    /** Counts sent bytes. Returns the mark that must follow them, or -1 if none is due. */
    fun sent(bytes: Long): Long {
        sent += bytes
        if (sent - taken >= windowBytes) full = true
        if ((sent - marked) * 2 < windowBytes) return -1
        marked = sent
        return sent
    }

    /** A mark came back: null for one that was never sent, else whether it is time to say `drained`. */
    fun taken(total: Long): Boolean? {
        if (total <= taken || total > marked) return null
        taken = total
        if (!full || (sent - total) * 2 > windowBytes) return false
        full = false
        return true
    }
}
