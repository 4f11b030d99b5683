// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.util.concurrent.atomic.AtomicReference

/** Writes a message into memory that grows. Offsets and padding count from the first byte of that memory. */
internal class Writer {
    var bytes = ByteArray(FIRST)
        private set

    private var view = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
    private var bytesMax = ARRAY_MAX
    /** The number of bytes in [bytes] that the message may use before [grow] is asked. */
    private var usable = FIRST
    var offset = 0

    /** Starts a message of at most `bytesMax` bytes. */
    fun begin(bytesMax: Long) {
        offset = 0
        this.bytesMax = minOf(bytesMax, ARRAY_MAX)
        usable = minOf(bytes.size.toLong(), reservedMax).toInt()
    }

    private val reservedMax: Long
        get() = minOf(bytesMax + RESERVE, ARRAY_MAX)

    fun refusal(error: CodecError, what: String): CodecException = CodecException(error, what, offset, traced = true)

    /**
     * Makes room for `count` more bytes, of which the message may leave up to [RESERVE] unused. Throws [OverLimit] if
     * the message would exceed the limit of [begin], and `too-large` if it would be larger than [ARRAY_MAX].
     */
    fun room(count: Long) {
        if (count > usable - offset) grow(offset + count)
    }

    private fun grow(needed: Long) {
        if (needed > reservedMax) throw tooLarge(needed)
        bytes = bytes.copyOf(minOf(maxOf(needed, bytes.size * 2L), reservedMax).toInt())
        view = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
        usable = bytes.size
    }

    private fun tooLarge(size: Long): RuntimeException =
        if (bytesMax < ARRAY_MAX) OverLimit(bytesMax.toInt())
        else refusal(CodecError.TOO_LARGE, "a message of $size bytes")

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

    /** Returns a copy of the written bytes, in an array of their exact size. Throws [OverLimit] as [room] does. */
    fun copy(): ByteArray {
        if (offset > bytesMax) throw tooLarge(offset.toLong())
        return bytes.copyOf(offset)
    }

    internal companion object {
        /** Initial size of the memory, in bytes. Most messages are shorter. */
        const val FIRST = 1024

        /**
         * Maximum number of bytes for which a method asks, but which it may leave unused. The most is the room for a
         * float64 with its type byte and its padding.
         */
        const val RESERVE = 16L

        /** The largest array that every JVM supports, in bytes. */
        const val ARRAY_MAX = Int.MAX_VALUE - 8L
    }
}

/** Memory that a codec reuses for its next message: the output buffer and the cache of map keys. */
internal class Scratch {
    val writer = Writer()
    val keys = KeyCache()
}

/**
 * Keeps one [Scratch] that all threads share, one at a time. A thread that finds none creates its own. The spare
 * scratch is not a thread-local, because a process may have a million virtual threads and each would keep a buffer.
 */
internal class SpareScratch {
    val spare = AtomicReference<Scratch>()

    /** Calls `act` with a scratch, in which it may write a message of at most `bytesMax` bytes. */
    inline fun <T> use(bytesMax: Long = Writer.ARRAY_MAX, act: (Scratch) -> T): T {
        // Only one thread at a time owns the scratch. `getAndSet` reads the scratch that the `set` below published,
        // with all changes.
        val scratch = spare.getAndSet(null) ?: Scratch()
        scratch.writer.begin(bytesMax)
        try {
            return act(scratch)
        } finally {
            if (scratch.writer.bytes.size <= KEPT_MAX) spare.set(scratch)
        }
    }

    internal companion object {
        /**
         * Maximum size, in bytes, of a buffer that is kept. A larger buffer is dropped, so that one large message does
         * not hold its memory for ever. The codecs of the other languages have the same limit.
         */
        const val KEPT_MAX = 1 shl 20
    }
}
