// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec.json

import clearway.channel.codec.CodecError
import clearway.channel.codec.CodecException
import clearway.channel.codec.validUntil

/**
 * Reads a JSON text in one pass. Checks syntax, depth, the number of values and UTF-8, which JSON libraries do not do
 * together. Errors do not say where.
 */
internal class JsonReader(
    val bytes: ByteArray,
    start: Int,
    private val end: Int,
    private val depthMax: Int,
    private val valuesMax: Int = Int.MAX_VALUE,
) {
    var at = start
    // Every opening bracket, comma and colon counts as one value. A key and its value thus count as two, and an empty
    // list or object as one more.
    private var values = 0

    /** Returns the next byte, or -1 at the end. */
    fun peek(): Int = if (at < end) bytes[at].toInt() and 0xff else -1

    fun malformed(): CodecException = CodecException(CodecError.MALFORMED, "this is no JSON", 0)

    /** Reads the only value of the text. Nothing but white space may follow. */
    fun whole(): Any? {
        val value = value(0)
        space()
        if (at < end) throw malformed()
        return value
    }

    private fun space() {
        while (true) {
            when (peek()) {
                ' '.code,
                '\t'.code,
                '\n'.code,
                '\r'.code -> at++
                else -> return
            }
        }
    }

    /** Skips white space and returns the next byte without consuming it. */
    private fun next(): Int {
        space()
        val byte = peek()
        if (byte < 0) throw malformed()
        return byte
    }

    private fun value(depth: Int): Any? =
        when (next()) {
            '['.code -> {
                enter(depth)
                list(depth + 1)
            }
            '{'.code -> {
                enter(depth)
                map(depth + 1)
            }
            '"'.code -> readText(this)
            '-'.code,
            in '0'.code..'9'.code -> readNumber(this)
            'n'.code -> word("null", null)
            't'.code -> word("true", true)
            'f'.code -> word("false", false)
            else -> throw malformed()
        }

    private fun enter(depth: Int) {
        if (depth >= depthMax) throw CodecException(CodecError.TOO_DEEP, "values are nested deeper than $depthMax", 0)
        charge()
        at++
    }

    private fun charge() {
        if (++values > valuesMax) throw CodecException(CodecError.TOO_LARGE, "more than $valuesMax values", 0)
    }

    private fun list(inside: Int): List<Any?> {
        val list = ArrayList<Any?>()
        var more = next() != ']'.code
        while (more) {
            list.add(value(inside))
            more = goesOn(']'.code)
        }
        at++
        return list
    }

    private fun map(inside: Int): Map<String, Any?> {
        val map = LinkedHashMap<String, Any?>()
        var more = next() != '}'.code
        while (more) {
            if (next() != '"'.code) throw malformed()
            val key = readText(this)
            if (next() != ':'.code) throw malformed()
            charge()
            at++
            map[key] = value(inside)
            more = goesOn('}'.code)
        }
        at++
        return map
    }

    /**
     * Returns true after a comma, which the function consumes. Returns false at the closing bracket, which it does not
     * consume.
     */
    private fun goesOn(close: Int): Boolean {
        val byte = next()
        if (byte == close) return false
        if (byte != ','.code) throw malformed()
        charge()
        at++
        return true
    }

    private fun word(word: String, value: Any?): Any? {
        for (letter in word) {
            if (peek() != letter.code) throw malformed()
            at++
        }
        return value
    }

    /** Throws unless the bytes from `from` to `to` are UTF-8. */
    fun check(from: Int, to: Int) {
        if (validUntil(bytes, from, to) < to) throw malformed()
    }
}

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
