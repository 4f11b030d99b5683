// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec.json

import clearway.channel.codec.CodecError
import clearway.channel.codec.CodecException

/** Reads a text in quotes. The next byte must be the opening quote. */
internal fun readText(reader: JsonReader): String {
    var text: StringBuilder? = null
    reader.at++
    while (true) {
        val from = reader.at
        var all = 0
        var byte = reader.peek()
        while (byte >= 0x20 && byte != '"'.code && byte != '\\'.code) {
            all = all or byte
            reader.at++
            byte = reader.peek()
        }
        if (all >= 0x80) reader.check(from, reader.at)
        val charset = if (all < 0x80) Charsets.ISO_8859_1 else Charsets.UTF_8
        val part = String(reader.bytes, from, reader.at - from, charset)
        when (byte) {
            '"'.code -> {
                reader.at++
                return text?.append(part)?.toString() ?: part
            }
            '\\'.code -> {
                val parts = text ?: StringBuilder().also { text = it }
                parts.append(part).appendCodePoint(escape(reader))
            }
            else -> throw reader.unexpected()
        }
    }
}

/** Reads an escape and returns its character. The next byte must be the backslash. */
private fun escape(reader: JsonReader): Int {
    val from = reader.at
    reader.at++
    val simple =
        when (val letter = reader.peek()) {
            '"'.code,
            '\\'.code,
            '/'.code -> letter
            'b'.code -> '\b'.code
            'f'.code -> 0xc
            'n'.code -> '\n'.code
            'r'.code -> '\r'.code
            't'.code -> '\t'.code
            'u'.code -> return unicode(reader, from)
            else -> throw reader.unexpected()
        }
    reader.at++
    return simple
}

/**
 * Reads `\uXXXX`, or the two escapes of a surrogate pair. Returns the code point. `from` is the index of the first
 * backslash.
 */
private fun unicode(reader: JsonReader, from: Int): Int {
    fun alone() = reader.refusal(CodecError.BAD_UTF8, from)
    reader.at = from + 2
    val high = unit(reader)
    if (high !in 0xd800..0xdbff) {
        if (high in 0xdc00..0xdfff) throw alone()
        return high
    }
    // The escape of a lower half must follow. If the text ends too soon, the error is `truncated`. If anything else
    // follows, the error is `bad-utf8`, because UTF-8 cannot encode an upper half alone.
    for (index in 0 until 4) {
        val byte = reader.byteAt(from + 6 + index)
        if (byte < 0) throw reader.refusal(CodecError.TRUNCATED, reader.messageEnd)
        val fits =
            when (index) {
                0 -> byte == '\\'.code
                1 -> byte == 'u'.code
                2 -> byte or 0x20 == 'd'.code
                else -> byte or 0x20 in 'c'.code..'f'.code
            }
        if (!fits) throw alone()
    }
    reader.at = from + 8
    val low =
        try {
            unit(reader)
        } catch (refused: CodecException) {
            throw if (refused.error == CodecError.MALFORMED) alone() else refused
        }
    return 0x10000 + ((high - 0xd800) shl 10) + (low - 0xdc00)
}

/** Reads four hex digits. */
private fun unit(reader: JsonReader): Int {
    var unit = 0
    for (index in 0 until 4) {
        val digit =
            when (val byte = reader.peek()) {
                in '0'.code..'9'.code -> byte - '0'.code
                in 'a'.code..'f'.code -> byte - 'a'.code + 10
                in 'A'.code..'F'.code -> byte - 'A'.code + 10
                else -> throw reader.unexpected()
            }
        unit = (unit shl 4) or digit
        reader.at++
    }
    return unit
}
