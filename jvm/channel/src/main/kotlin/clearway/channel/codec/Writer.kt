// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.nio.ByteBuffer
import java.nio.ByteOrder

/** Writes a message into memory that grows. Offsets and padding count from the first byte of that memory. */
internal class Writer {
    var bytes = ByteArray(FIRST)
        private set

    private var view = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
    var offset = 0

    fun refusal(error: CodecError, what: String): CodecException = CodecException(error, what, offset, traced = true)

    /** Makes room for `count` more bytes. Throws `too-large` if the message would be larger than [ARRAY_MAX]. */
    fun room(count: Long) {
        if (count > bytes.size - offset) grow(offset + count)
    }

    private fun grow(needed: Long) {
        if (needed > ARRAY_MAX) throw refusal(CodecError.TOO_LARGE, "a message of $needed bytes")
        bytes = bytes.copyOf(minOf(maxOf(needed, bytes.size * 2L), ARRAY_MAX).toInt())
        view = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
    }

    fun byte(value: Int) {
        room(1)
        bytes[offset++] = value.toByte()
    }

    fun int32(value: Int) {
        room(4)
        view.putInt(offset, value)
        offset += 4
    }

    fun int64(value: Long) {
        room(8)
        view.putLong(offset, value)
        offset += 8
    }

    /** Writes a type byte and an integer of 4 bytes. */
    fun int32(tag: Int, value: Int) {
        room(5)
        bytes[offset] = tag.toByte()
        view.putInt(offset + 1, value)
        offset += 5
    }

    fun int64(tag: Int, value: Long) {
        room(9)
        bytes[offset] = tag.toByte()
        view.putLong(offset + 1, value)
        offset += 9
    }

    fun float64(tag: Int, value: Double) {
        room(16)
        bytes[offset++] = tag.toByte()
        while (offset and 7 != 0) bytes[offset++] = 0
        view.putLong(offset, value.toRawBits())
        offset += 8
    }

    fun pad(alignment: Int) {
        room(alignment.toLong())
        while (offset and (alignment - 1) != 0) bytes[offset++] = 0
    }

    fun size(size: Int) {
        room(5)
        if (size <= Size.ONE_MAX) bytes[offset++] = size.toByte()
        else if (size <= Size.TWO_MAX) {
            bytes[offset] = Size.TWO.toByte()
            view.putShort(offset + 1, size.toShort())
            offset += 3
        } else {
            bytes[offset] = Size.FOUR.toByte()
            view.putInt(offset + 1, size)
            offset += 5
        }
    }

    fun raw(from: ByteArray, start: Int, count: Int) {
        room(count.toLong())
        System.arraycopy(from, start, bytes, offset, count)
        offset += count
    }

    /** Reserves room for `count` elements. The caller fills it through the returned view. */
    fun space(count: Int, width: Int): ByteBuffer {
        val size = count.toLong() * width
        room(size)
        val space = view.duplicate().order(ByteOrder.LITTLE_ENDIAN)
        space.position(offset)
        offset += size.toInt()
        return space
    }

    /** Writes the size of a text, then its UTF-8. Throws `not-encodable` for an unpaired surrogate. */
    fun text(text: String) {
        val length = text.length
        val begin = offset
        size(length)
        room(length.toLong())
        val bytes = bytes
        var at = offset
        for (index in 0 until length) {
            val char = text[index].code
            if (char >= 0x80) {
                offset = begin
                return wide(text)
            }
            bytes[at++] = char.toByte()
        }
        offset = at
    }

    private fun wide(text: String) {
        val size = utf8Size(text)
        if (size < 0) throw refusal(CodecError.NOT_ENCODABLE, "a text has half of a surrogate pair")
        room(size + 5)
        size(size.toInt())
        utf8(text, 0, text.length)
    }

    /**
     * Writes a part of a text as UTF-8. The text must be well-formed, and the caller must have made room for the bytes.
     */
    fun utf8(text: String, from: Int, to: Int) {
        var at = from
        var place = offset
        while (at < to) {
            var code = text[at].code
            if (code in 0xd800..0xdbff) code = Character.toCodePoint(text[at], text[++at])
            at++
            if (code < 0x80) {
                bytes[place++] = code.toByte()
                continue
            }
            val more = if (code < 0x800) 1 else if (code < 0x10000) 2 else 3
            // The first byte begins with the bits 110, 1110 or 11110. The highest bits of the code point follow.
            bytes[place++] = ((0xf0 shl (3 - more)) or (code shr (6 * more))).toByte()
            for (left in more - 1 downTo 0) bytes[place++] = (0x80 or (code shr (6 * left) and 0x3f)).toByte()
        }
        offset = place
    }

    /** Returns a copy of the written bytes, in an array of their exact size. */
    fun copy(): ByteArray = bytes.copyOf(offset)

    private companion object {
        /** Initial size of the memory, in bytes. Most messages are shorter. */
        const val FIRST = 1024

        /** The largest array that every JVM supports, in bytes. */
        const val ARRAY_MAX = Int.MAX_VALUE - 8L
    }
}
