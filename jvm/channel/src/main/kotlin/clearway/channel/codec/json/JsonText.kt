// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec.json

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
            else -> throw reader.malformed()
        }
    }
}

/** Reads an escape and returns its character. The next byte must be the backslash. */
private fun escape(reader: JsonReader): Int {
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
            'u'.code -> return unicode(reader)
            else -> throw reader.malformed()
        }
    reader.at++
    return simple
}

/** Reads `uXXXX`, or this and the next escape if they are a surrogate pair. Returns the code point. */
private fun unicode(reader: JsonReader): Int {
    reader.at++
    val high = unit(reader)
    if (high !in 0xd800..0xdfff) return high
    for (expected in "\\u") if (reader.peek() != expected.code) throw reader.malformed() else reader.at++
    val low = unit(reader)
    // UTF-8 cannot encode half of a pair.
    if (high >= 0xdc00 || low !in 0xdc00..0xdfff) throw reader.malformed()
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
                else -> throw reader.malformed()
            }
        unit = (unit shl 4) or digit
        reader.at++
    }
    return unit
}
