// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import java.nio.ByteBuffer

/** Joins the parts of a message. Checks the size limit before it stores a part. */
internal class MessageAssembler(private val bytesMax: Int) {
    private var bytes = ByteArray(0)
    private var filled = 0
    private val text = StringBuilder()

    /** Copies a part. Returns false, and copies nothing, if the message would exceed the limit. */
    fun add(part: ByteBuffer): Boolean {
        val count = part.remaining()
        if (count > bytesMax - filled) return false
        if (filled + count > bytes.size) {
            // The first part gets a buffer of its exact size. For further parts, the buffer doubles.
            val size =
                if (filled == 0) count else maxOf(filled + count, minOf(bytes.size * 2L, bytesMax.toLong()).toInt())
            bytes = bytes.copyOf(size)
        }
        part.get(bytes, filled, count)
        filled += count
        return true
    }

    /** Returns the message in memory of its exact size, and starts the next message. */
    fun take(): ByteArray {
        val whole = if (filled == bytes.size) bytes else bytes.copyOf(filled)
        bytes = ByteArray(0)
        filled = 0
        return whole
    }

    /** Adds a part of a text message. Returns false if the text is longer than any mark. */
    fun addText(part: String): Boolean {
        text.append(part)
        return text.length <= TEXT_MAX
    }

    fun takeText(): String = text.toString().also { text.setLength(0) }

    private companion object {
        const val TEXT_MAX = 1024
    }
}
