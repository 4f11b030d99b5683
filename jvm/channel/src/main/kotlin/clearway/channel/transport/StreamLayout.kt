// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

import clearway.channel.codec.Codecs
import java.nio.ByteBuffer
import java.nio.ByteOrder

// A frame on a stream of bytes. spec/stdio.md; spec/vectors/stdio.json checks it in every language.
//
//   byte  0     1     2     3     4           8                    8 + size
//         +-----+-----+-----+-----+-----------+--------------------+
//         | 43  | 57  | 01  |kind | size, u32 | body               |
//         | "C" | "W" |     |     | little    |                    |
//         +-----+-----+-----+-----+-----------+--------------------+
//
// The mark stands before each frame and not once at the start, so that a line which somebody prints in between is found
// where it begins. Its first byte is a letter, but no line begins with "CW" and a byte 1.

/** Bytes before a body. */
internal const val STREAM_HEADER_BYTES = 8
/** The first bytes of each frame: two letters and the version. */
internal val STREAM_MARK = byteArrayOf(0x43, 0x57, 0x01)
internal const val KIND_AT = 3
internal const val SIZE_AT = 4

/** The body is a frame of the channel's. */
internal const val KIND_FRAME = 0
/** The last word: the body is the reason, as JSON. Nothing follows. */
internal const val KIND_CLOSE = 1

/** A reason is for people; one that is longer is no reason. */
internal const val CLOSE_BYTES_MAX = 8192
private const val MESSAGE_MAX = 1000

/** The header of a frame of this size. */
internal fun streamHeader(size: Int, kind: Int = KIND_FRAME): ByteArray {
    val header = STREAM_MARK.copyOf(STREAM_HEADER_BYTES)
    header[KIND_AT] = kind.toByte()
    ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).putInt(SIZE_AT, size)
    return header
}

/** The last word's body. What was thrown here stays here. */
internal fun closeBody(reason: CloseReason): ByteArray {
    fun body(message: String, detail: Map<String, Any>): ByteArray {
        val parts = linkedMapOf<String, Any>("code" to reason.code.code, "message" to wellFormed(message))
        if (detail.isNotEmpty()) parts["detail"] = detail
        return Codecs.JSON.encode(parts)
    }
    val whole = body(reason.message, reason.detail)
    // A message of somebody else's, such as an error's: its beginning says enough.
    return if (whole.size <= CLOSE_BYTES_MAX) whole else body(reason.message.take(MESSAGE_MAX), emptyMap())
}

// Half of a surrogate pair has no UTF-8.
private fun wellFormed(text: String) = String(text.toByteArray(Charsets.UTF_8), Charsets.UTF_8)
