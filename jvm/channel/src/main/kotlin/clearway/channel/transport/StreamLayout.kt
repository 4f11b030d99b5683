// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

import clearway.channel.codec.Codecs
import clearway.channel.codec.OverLimit
import clearway.channel.codec.encode
import java.nio.ByteBuffer
import java.nio.ByteOrder

// The layout of a frame on a stream of bytes (spec/stdio.md). spec/vectors/stdio.json has tests for all languages.
//
//   byte  0     1     2     3     4           8                    8 + size
//         +-----+-----+-----+-----+-----------+--------------------+
//         | 43  | 57  | 01  |kind | size, u32 | body               |
//         | "C" | "W" |     |     | little    |                    |
//         +-----+-----+-----+-----+-----------+--------------------+
//
// Every frame begins with the magic bytes 43, 57 and 01, in hexadecimal. The reader can therefore detect a line
// that code of the other end printed between two frames. A printed line may begin with "CW", but the byte 1 does not
// occur in text.

/** The number of bytes before a body. */
internal const val STREAM_HEADER_BYTES = 8
/** The first bytes of each frame: "CW" and the version, 1. */
internal val STREAM_MAGIC = byteArrayOf(0x43, 0x57, 0x01)
internal const val KIND_AT = 3
internal const val SIZE_AT = 4

/** The kind of a frame whose body is a frame of the channel. */
internal const val KIND_FRAME = 0
/** The kind of a close frame. Its body is the reason, as JSON. No frame follows. */
internal const val KIND_CLOSE = 1

/** Maximum size of a reason, in bytes. A longer reason is an error, because reasons are for people. */
internal const val CLOSE_BYTES_MAX = 8192
private const val MESSAGE_MAX = 1000

/** Returns the header of a frame whose body has `size` bytes. */
internal fun streamHeader(size: Int, kind: Int = KIND_FRAME): ByteArray {
    val header = STREAM_MAGIC.copyOf(STREAM_HEADER_BYTES)
    header[KIND_AT] = kind.toByte()
    ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).putInt(SIZE_AT, size)
    return header
}

/** Returns the body of a close frame. It does not contain the reason's cause. */
internal fun closeBody(reason: CloseReason): ByteArray {
    fun body(message: String, detail: Map<String, Any>): ByteArray {
        val parts = linkedMapOf<String, Any>("code" to reason.code.code, "message" to wellFormed(message))
        if (detail.isNotEmpty()) parts["detail"] = detail
        return Codecs.JSON.encode(parts, CLOSE_BYTES_MAX)
    }
    return try {
        body(reason.message, reason.detail)
    } catch (_: OverLimit) {
        // The message may have any length, for example that of an exception. Its beginning is enough.
        body(reason.message.take(MESSAGE_MAX), emptyMap())
    }
}

// Replaces unpaired surrogates, which UTF-8 cannot encode.
private fun wellFormed(text: String) = String(text.toByteArray(Charsets.UTF_8), Charsets.UTF_8)
