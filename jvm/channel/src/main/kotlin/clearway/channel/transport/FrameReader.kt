// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

import clearway.channel.codec.CodecException
import clearway.channel.codec.Codecs
import clearway.channel.codec.OverLimit
import clearway.channel.codec.encode
import clearway.channel.codec.wellFormed
import java.nio.ByteBuffer
import java.nio.ByteOrder

/**
 * Splits a stream of bytes into frames. Does no I/O. The bytes may arrive in pieces of any size. Copies the body of
 * each frame (the bytes after the header) into memory that grows up to exactly the body's size. The memory of a body
 * starts with at most [FIRST_BYTES]. It grows by a factor of up to [GROWTH], but only when it is full. If a peer
 * announces a body of 64 MiB, the reader allocates 64 MiB only after 16 MiB have arrived. Growing copies the earlier
 * bytes again: in total, at most 1.07 times the size of the body.
 */
internal class FrameReader(
    private val frameBytesMax: Int,
    private val frame: (ByteArray) -> Unit,
    /**
     * Called at most once, when no more frames follow: with the reason that the other endpoint gave, or with an error
     * in the bytes. The reader ignores all later bytes.
     */
    private val end: (CloseReason) -> Unit,
) {
    private val header = ByteArray(STREAM_HEADER_BYTES)
    private var headerFilled = 0
    /** The memory for the body of the current frame; null between two bodies. */
    private var body: ByteArray? = null
    private var bodySize = 0
    private var bodyFilled = 0
    private var ended = false
    /** The position of the current frame in the stream, in bytes. */
    private var offset = 0L

    /** Whether the current frame is incomplete. If the stream ends in this state, the frame is lost. */
    val inside: Boolean
        get() = headerFilled > 0

    /** Reads the bytes of `piece` up to index `to`. Keeps no reference to `piece`. */
    fun push(piece: ByteArray, to: Int) {
        var at = 0
        while (!ended && at < to) {
            val open = body
            at = if (open == null) readHeader(piece, at, to) else readBody(piece, at, to, open)
        }
    }

    private fun readHeader(piece: ByteArray, from: Int, to: Int): Int {
        var at = from
        while (headerFilled < STREAM_HEADER_BYTES && at < to) {
            val byte = piece[at]
            if (headerFilled < STREAM_MAGIC.size && byte != STREAM_MAGIC[headerFilled]) {
                stray(piece, at, to)
                return to
            }
            header[headerFilled++] = byte
            at++
        }
        if (headerFilled == STREAM_HEADER_BYTES) begin()
        return at
    }

    private fun begin() {
        val size = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getInt(SIZE_AT).toLong() and 0xffff_ffffL
        val kind = header[KIND_AT].toInt()
        if (kind != KIND_FRAME && kind != KIND_CLOSE)
            return finish(CloseCode.PROTOCOL, "a frame of the unknown kind ${kind and 0xff}, at byte $offset")
        val bytesMax = if (kind == KIND_FRAME) frameBytesMax else CLOSE_BYTES_MAX
        if (size > bytesMax)
            return finish(CloseCode.TOO_LARGE, "a frame of $size bytes; the transport takes $bytesMax at most")
        bodySize = size.toInt()
        bodyFilled = 0
        val open = ByteArray(minOf(bodySize, FIRST_BYTES))
        body = open
        if (open.isEmpty()) complete(open)
    }

    private fun readBody(piece: ByteArray, from: Int, to: Int, open: ByteArray): Int {
        val count = minOf(to - from, open.size - bodyFilled)
        System.arraycopy(piece, from, open, bodyFilled, count)
        bodyFilled += count
        if (bodyFilled == bodySize) complete(open)
        else if (bodyFilled == open.size)
            body = open.copyOf(minOf(bodySize.toLong(), open.size.toLong() * GROWTH).toInt())
        return from + count
    }

    private fun complete(whole: ByteArray) {
        body = null
        headerFilled = 0
        offset += STREAM_HEADER_BYTES + whole.size
        if (header[KIND_AT].toInt() == KIND_FRAME) return frame(whole)
        ended = true
        end(readClose(whole))
    }

    // Reports bytes that are not a frame. They are usually a line that the other end, or a library of it, printed to
    // standard output.
    private fun stray(piece: ByteArray, at: Int, to: Int) {
        val rest = piece.copyOfRange(at, minOf(to, at + EXCERPT_BYTES))
        val text = String(header.copyOf(headerFilled) + rest, Charsets.UTF_8).trimEnd()
        val what = "something that is no frame, at byte $offset: \"$text\""
        finish(CloseCode.PROTOCOL, "$what; does the other end print to its standard output?", mapOf("offset" to offset))
    }

    private fun finish(code: CloseCode, message: String, detail: Map<String, Any> = emptyMap()) {
        ended = true
        end(CloseReason(code, message, detail))
    }

    private fun readClose(bytes: ByteArray): CloseReason =
        try {
            CloseReason.read(Codecs.JSON.decode(bytes))
        } catch (wrong: CodecException) {
            CloseReason(CloseCode.PROTOCOL, "the close frame has no valid JSON", emptyMap(), wrong)
        }

    private companion object {
        /** Number of stray bytes that the error quotes. They usually show which code printed them. */
        const val EXCERPT_BYTES = 80
        /** Initial memory of a body, in bytes. The buffer for incoming pieces has the same size. */
        const val FIRST_BYTES = 1 shl 16
        const val GROWTH = 16
    }
}

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

/**
 * Returns the body of a close frame. It does not contain the reason's cause. It does not contain the detail either if
 * the detail is too long or has a value that is not JSON.
 */
internal fun closeBody(reason: CloseReason): ByteArray {
    fun body(message: String, detail: Map<String, Any>): ByteArray {
        val parts = linkedMapOf<String, Any>("code" to reason.code.code, "message" to wellFormed(message))
        if (detail.isNotEmpty()) parts["detail"] = detail
        return Codecs.JSON.encode(parts, CLOSE_BYTES_MAX)
    }
    // The message may have any length, for example that of an exception. Its beginning is enough.
    fun shortened() = body(reason.message.take(MESSAGE_MAX), emptyMap())
    return try {
        body(reason.message, reason.detail)
    } catch (_: OverLimit) {
        shortened()
    } catch (_: Throwable) {
        // The detail is the application's. JSON may have no form for its values, and their methods may throw.
        try {
            body(reason.message, emptyMap())
        } catch (_: OverLimit) {
            shortened()
        }
    }
}
