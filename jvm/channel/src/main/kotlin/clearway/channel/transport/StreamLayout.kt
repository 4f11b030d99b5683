// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

import clearway.channel.codec.Codecs
import java.nio.ByteBuffer
import java.nio.ByteOrder

// A frame on a stream of bytes (spec/stdio.md). spec/vectors/stdio.json tests it in every language.
//
//   byte  0     1     2     3     4           8                    8 + size
//         +-----+-----+-----+-----+-----------+--------------------+
//         | 43  | 57  | 01  |kind | size, u32 | body               |
//         | "C" | "W" |     |     | little    |                    |
//         +-----+-----+-----+-----+-----------+--------------------+
//
// Each frame begins with the mark, not only the first one. The reader therefore finds the start of a line that was
// printed between two frames. The mark begins with two letters, but no line begins with "CW" and a byte 1.

/** The number of bytes before a body. */
internal const val STREAM_HEADER_BYTES = 8
/** The first bytes of each frame: two letters and the version. */
internal val STREAM_MARK = byteArrayOf(0x43, 0x57, 0x01)
internal const val KIND_AT = 3
internal const val SIZE_AT = 4

/** The body is a frame of the channel. */
internal const val KIND_FRAME = 0
/** A close frame: the body is the reason, as JSON. No frame follows. */
internal const val KIND_CLOSE = 1

/** Maximum size of a reason in bytes. A reason is for people, and a longer one is an error. */
internal const val CLOSE_BYTES_MAX = 8192
private const val MESSAGE_MAX = 1000

/** Returns the header of a frame of this size. */
internal fun streamHeader(size: Int, kind: Int = KIND_FRAME): ByteArray {
    val header = STREAM_MARK.copyOf(STREAM_HEADER_BYTES)
    header[KIND_AT] = kind.toByte()
    ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).putInt(SIZE_AT, size)
    return header
}

/** Returns the body of a close frame. The reason's cause does not cross. */
internal fun closeBody(reason: CloseReason): ByteArray {
    fun body(message: String, detail: Map<String, Any>): ByteArray {
        val parts = linkedMapOf<String, Any>("code" to reason.code.code, "message" to wellFormed(message))
        if (detail.isNotEmpty()) parts["detail"] = detail
        return Codecs.JSON.encode(parts)
    }
    val whole = body(reason.message, reason.detail)
    // The message may be foreign, such as that of an exception. Its beginning is enough.
    return if (whole.size <= CLOSE_BYTES_MAX) whole else body(reason.message.take(MESSAGE_MAX), emptyMap())
}

// UTF-8 cannot encode half of a surrogate pair.
private fun wellFormed(text: String) = String(text.toByteArray(Charsets.UTF_8), Charsets.UTF_8)
