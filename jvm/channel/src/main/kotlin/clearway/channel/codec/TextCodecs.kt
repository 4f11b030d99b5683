// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.math.BigInteger
import java.nio.ByteBuffer
import java.nio.ByteOrder

/**
 * Encodes messages that are text, in UTF-8. Null is encoded as a message without bytes. A message without bytes is
 * decoded as the empty text. See [Codecs.STRING].
 */
public class StringCodec internal constructor() : MessageCodec<String> {
    override val name: String
        get() = "string"

    override fun encode(value: String?): ByteArray {
        if (value == null) return NOTHING
        if (utf8Size(value) < 0)
            throw CodecException(CodecError.NOT_ENCODABLE, "a text has half of a surrogate pair", 0, traced = true)
        return value.toByteArray(Charsets.UTF_8)
    }

    override fun decode(message: ByteArray): String = decodeOwned(ByteBuffer.wrap(message))

    override fun decodeOwned(message: ByteBuffer): String =
        inArray(message) { bytes, start, end ->
            val view = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
            readUtf8(bytes, view, start, end, start)
        }
}

/**
 * Passes on messages that are bytes. Null is encoded as a message without bytes. The codec copies each message, with
 * one exception: [decodeOwned] returns the buffer's own array if the message fills the array. See [Codecs.BINARY].
 */
public class BinaryCodec internal constructor() : MessageCodec<ByteArray> {
    override val name: String
        get() = "binary"

    override fun encode(value: ByteArray?): ByteArray = value?.copyOf() ?: NOTHING

    override fun decode(message: ByteArray): ByteArray = message.copyOf()

    override fun decodeOwned(message: ByteBuffer): ByteArray {
        if (message.hasArray() && message.remaining() == message.array().size) return message.array()
        return ByteArray(message.remaining()).also { message.duplicate().get(it) }
    }
}

private const val HIGH_BITS = -0x7f7f7f7f7f7f7f80L // 0x80 in each of eight bytes

/** Returns whether all bytes from `start` to `end` are ASCII. `view` must be a view of the whole array. */
internal fun isAscii(bytes: ByteArray, view: ByteBuffer, start: Int, end: Int): Boolean {
    var at = start
    while (at + 8 <= end) {
        if (view.getLong(at) and HIGH_BITS != 0L) return false
        at += 8
    }
    var all = 0
    while (at < end) all = all or bytes[at++].toInt()
    return all >= 0
}

/**
 * Decodes the UTF-8 bytes from `start` to `end`. Throws `bad-utf8` with the offset of the first ill-formed sequence.
 * The offset counts from index `zero`, at which the message begins.
 */
internal fun readUtf8(bytes: ByteArray, view: ByteBuffer, start: Int, end: Int, zero: Int): String {
    // For Latin-1, the JVM only copies the bytes. Other bytes are checked first, because the JVM's UTF-8 decoder would
    // replace ill-formed sequences.
    if (isAscii(bytes, view, start, end)) return String(bytes, start, end - start, Charsets.ISO_8859_1)
    val wrong = validUntil(bytes, start, end)
    if (wrong < end) throw CodecException(CodecError.BAD_UTF8, "a text is not UTF-8", wrong - zero)
    return String(bytes, start, end - start, Charsets.UTF_8)
}

/** Returns the index of the first ill-formed sequence, or `end` if there is none. Follows table 3-7 of Unicode 16. */
internal fun validUntil(bytes: ByteArray, start: Int, end: Int): Int {
    var at = start
    while (at < end) {
        val first = bytes[at].toInt() and 0xff
        if (first < 0x80) {
            at++
            continue
        }
        val more =
            when {
                first < 0xc2 -> return at
                first < 0xe0 -> 1
                first < 0xf0 -> 2
                first < 0xf5 -> 3
                else -> return at
            }
        if (at + more >= end) return at
        for (next in 1..more) {
            val byte = bytes[at + next].toInt() and 0xff
            val min = if (next > 1) 0x80 else if (first == 0xe0) 0xa0 else if (first == 0xf0) 0x90 else 0x80
            val max = if (next > 1) 0xbf else if (first == 0xed) 0x9f else if (first == 0xf4) 0x8f else 0xbf
            if (byte < min || byte > max) return at
        }
        at += more + 1
    }
    return end
}

/** Returns the size of a text in UTF-8, in bytes. Returns -1 for an unpaired surrogate, which UTF-8 cannot encode. */
internal fun utf8Size(text: CharSequence): Long {
    var size = 0L
    var at = 0
    while (at < text.length) {
        val char = text[at++]
        size +=
            when {
                char.code < 0x80 -> 1
                char.code < 0x800 -> 2
                !char.isSurrogate() -> 3
                char.isLowSurrogate() || at == text.length || !text[at].isLowSurrogate() -> return -1
                else -> {
                    at++
                    4
                }
            }
    }
    return size
}

/** Returns a text in which unpaired surrogates, which UTF-8 cannot encode, are replaced. */
internal fun wellFormed(text: String): String = String(text.toByteArray(Charsets.UTF_8), Charsets.UTF_8)

// Returns the value of a hex digit, or -1 for any other byte. This file maps hex digits directly to bits. The time of
// BigInteger's own parser grows with the square of the number of digits.

private fun hexDigit(byte: Byte): Int =
    when (val char = byte.toInt()) {
        in '0'.code..'9'.code -> char - '0'.code
        in 'a'.code..'f'.code -> char - 'a'.code + 10
        in 'A'.code..'F'.code -> char - 'A'.code + 10
        else -> -1
    }

/**
 * Returns the integer that the hex digits represent, in the narrowest type that holds it. Returns null if there are no
 * digits or a byte is not a hex digit.
 */
internal fun fromHex(bytes: ByteArray, start: Int, digits: Int, negative: Boolean): Any? {
    if (digits == 0) return null
    val magnitude = ByteArray((digits + 1) / 2)
    // Two digits fill one byte of the magnitude. The loop starts with the last digit, the least significant one.
    for (index in 0 until digits) {
        val digit = hexDigit(bytes[start + digits - 1 - index])
        if (digit < 0) return null
        val at = magnitude.size - 1 - index / 2
        magnitude[at] = (magnitude[at].toInt() or (digit shl (index % 2 * 4))).toByte()
    }
    val value = BigInteger(1, magnitude)
    return narrow(if (negative) value.negate() else value)
}

/** Returns the value in lower-case hex digits, without leading zeros. A negative value starts with `-`. */
internal fun toHex(value: BigInteger): ByteArray {
    val magnitude = value.abs().toByteArray()
    val digits = (value.abs().bitLength() + 3) / 4
    val sign = if (value.signum() < 0) 1 else 0
    val text = ByteArray(sign + digits)
    if (sign == 1) text[0] = '-'.code.toByte()
    for (index in 0 until digits) {
        val pair = magnitude[magnitude.size - 1 - index / 2].toInt() and 0xff
        text[text.size - 1 - index] = HEX[pair ushr (index % 2 * 4) and 15].code.toByte()
    }
    return text
}

internal const val HEX = "0123456789abcdef"
