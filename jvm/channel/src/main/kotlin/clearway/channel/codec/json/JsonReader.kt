// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec.json

import clearway.channel.codec.CodecError
import clearway.channel.codec.CodecException
import clearway.channel.codec.validUntil

/**
 * Reads a JSON text in one pass. Checks syntax, depth and UTF-8 in the order of the bytes. The implementations in all
 * languages must report the same byte for the same error. JSON libraries do not guarantee that, so Clearway has its own
 * reader.
 */
internal class JsonReader(
    val bytes: ByteArray,
    private val start: Int,
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

    fun byteAt(index: Int): Int = if (index < end) bytes[index].toInt() and 0xff else -1

    fun refusal(error: CodecError, index: Int = at): CodecException =
        CodecException(error, "this is no JSON", index - start)

    /**
     * Returns the error for the byte at the current position: `truncated` at the end of the text, otherwise
     * `malformed`.
     */
    fun unexpected(): CodecException = refusal(if (at >= end) CodecError.TRUNCATED else CodecError.MALFORMED)

    val messageEnd: Int
        get() = end

    /** Reads the only value of the text. Throws `trailing-bytes` if anything but white space follows. */
    fun whole(): Any? {
        val value = value(0)
        space()
        if (at < end) throw refusal(CodecError.TRAILING_BYTES)
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
        if (byte < 0) throw refusal(CodecError.TRUNCATED)
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
            else -> throw refusal(CodecError.MALFORMED)
        }

    private fun enter(depth: Int) {
        if (depth >= depthMax) throw refusal(CodecError.TOO_DEEP)
        charge()
        at++
    }

    private fun charge() {
        if (++values > valuesMax) throw CodecException(CodecError.TOO_LARGE, "more than $valuesMax values", at - start)
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
            if (next() != '"'.code) throw refusal(CodecError.MALFORMED)
            val key = readText(this)
            if (next() != ':'.code) throw refusal(CodecError.MALFORMED)
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
        if (byte != ','.code) throw refusal(CodecError.MALFORMED)
        charge()
        at++
        return true
    }

    private fun word(word: String, value: Any?): Any? {
        for (letter in word) {
            if (peek() != letter.code) throw unexpected()
            at++
        }
        return value
    }

    /** Throws `bad-utf8` unless the bytes from `from` to `to` are UTF-8. */
    fun check(from: Int, to: Int) {
        val wrong = validUntil(bytes, from, to)
        if (wrong < to) throw refusal(CodecError.BAD_UTF8, wrong)
    }
}
