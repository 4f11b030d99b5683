// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.nio.ByteBuffer
import java.nio.ByteOrder

/**
 * Reads the parts of a message from a current position. The message is the part of `bytes` from `start` to `end`.
 * Offsets and padding count from the first byte of the message.
 */
internal class Reader(
    val bytes: ByteArray,
    val start: Int,
    val end: Int,
    val keys: KeyCache,
    /** Whether lists of numbers may be views of the message. */
    val owned: Boolean = false,
    /** The message's attachments; null if the message cannot have attachments. */
    val attached: List<ByteBuffer>? = null,
) {
    val view: ByteBuffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)

    /** Total size of the attachments that were read, in bytes. An attachment counts once for each reference to it. */
    var attachedBytes = 0L

    /** The lists that were copied from attachments, by attachment number and type byte. */
    val copies: HashMap<Long, Any> by lazy(LazyThreadSafetyMode.NONE) { HashMap() }

    /** The index in `bytes` of the next byte. */
    var at = start

    val left: Int
        get() = end - at

    /** The offset of the next byte, counted from the first byte of the message. */
    val offset: Int
        get() = at - start

    fun refusal(error: CodecError, what: String, index: Int, cause: Throwable? = null): CodecException =
        CodecException(error, what, index - start, cause)

    private fun truncated(from: Int) = refusal(CodecError.TRUNCATED, "the message ends too soon", from)

    /** Throws `truncated` unless `count` bytes remain. The error reports the offset of index `from`. */
    fun need(count: Long, from: Int) {
        if (count > end - at) throw truncated(from)
    }

    fun byte(): Int {
        if (at >= end) throw truncated(at)
        return bytes[at++].toInt() and 0xff
    }

    fun int32(): Int {
        need(4, at)
        val value = view.getInt(at)
        at += 4
        return value
    }

    fun int64(): Long {
        need(8, at)
        val value = view.getLong(at)
        at += 8
        return value
    }

    fun float64(): Double {
        val from = at
        pad(8, from)
        need(8, from)
        val value = view.getDouble(at)
        at += 8
        return value
    }

    fun pad(alignment: Int, from: Int) {
        // The mask works because the alignment is a power of two.
        val padding = (start - at) and (alignment - 1)
        need(padding.toLong(), from)
        at += padding
    }

    /** Reads a size or a count of up to 32 bits. */
    fun size(): Long {
        val from = at
        val first = byte()
        if (first <= Size.ONE_MAX) return first.toLong()
        if (first == Size.TWO) {
            need(2, from)
            val two = view.getShort(at).toInt() and 0xffff
            at += 2
            return two.toLong()
        }
        need(4, from)
        val four = view.getInt(at).toLong() and 0xffff_ffffL
        at += 4
        return four
    }

    /** Reads a size. Throws `truncated` unless the message has that number of bytes left. */
    fun sized(): Int {
        val from = at
        val size = size()
        need(size, from)
        return size.toInt()
    }

    fun text(): String {
        val size = sized()
        val from = at
        at += size
        return readUtf8(bytes, view, from, at, start)
    }

    /** Reads a text that is the key of a map. Returns a cached text if possible. */
    fun key(): String {
        val size = sized()
        val from = at
        at += size
        return keys.text(bytes, from, size) ?: readUtf8(bytes, view, from, at, start)
    }

    /** Reads `size` bytes. Returns a copy. */
    fun copy(size: Int): ByteArray {
        val copy = bytes.copyOfRange(at, at + size)
        at += size
        return copy
    }

    /** Reads `size` bytes. Returns a view of the message. */
    fun part(size: Int): ByteBuffer {
        val part = view.duplicate()
        part.limit(at + size)
        part.position(at)
        at += size
        return part.slice().order(ByteOrder.LITTLE_ENDIAN)
    }

    fun finish() {
        if (at < end) throw refusal(CodecError.TRAILING_BYTES, "$left bytes follow after the value", at)
    }
}
