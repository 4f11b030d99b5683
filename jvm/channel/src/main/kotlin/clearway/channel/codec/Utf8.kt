// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.nio.ByteBuffer

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
