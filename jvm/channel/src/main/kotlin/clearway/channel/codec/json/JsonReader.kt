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
