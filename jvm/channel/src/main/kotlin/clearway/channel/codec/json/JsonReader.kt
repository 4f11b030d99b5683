// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec.json

import clearway.channel.codec.CodecError
import clearway.channel.codec.CodecException
import clearway.channel.codec.validUntil
import java.math.BigDecimal
import java.math.MathContext
import java.math.RoundingMode

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

/** JavaScript's `Number.MAX_SAFE_INTEGER`. Every integer from -EXACT_MAX to EXACT_MAX has its own float64. */
internal const val EXACT_MAX = (1L shl 53) - 1

/**
 * Reads the number that begins at the next byte. Returns an Integer or a Long if the number is whole and exact as
 * float64, otherwise a Double. Minus zero is a Double.
 */
internal fun readNumber(reader: JsonReader): Any {
    val from = reader.at
    if (reader.peek() == '-'.code) reader.at++
    // JSON allows no digit after a leading zero. The number ends after the zero, and the caller refuses a digit that
    // follows.
    if (reader.peek() == '0'.code) reader.at++ else digits(reader)
    if (reader.peek() == '.'.code) {
        reader.at++
        digits(reader)
    }
    if (reader.peek() or 0x20 == 'e'.code) {
        reader.at++
        if (reader.peek() == '+'.code || reader.peek() == '-'.code) reader.at++
        digits(reader)
    }
    val value = String(reader.bytes, from, reader.at - from, Charsets.ISO_8859_1).toDouble()
    val whole = value.toLong()
    val exact = whole in -EXACT_MAX..EXACT_MAX && whole.toDouble() == value && (whole != 0L || 1 / value > 0)
    if (!exact) return value
    return if (whole == whole.toInt().toLong()) whole.toInt() else whole
}

private fun digits(reader: JsonReader) {
    val from = reader.at
    while (reader.peek() in '0'.code..'9'.code) reader.at++
    if (reader.at == from) throw reader.malformed()
}

/**
 * Returns the text that `JSON.stringify` writes for a number. The text has the fewest digits that read as the same
 * number. A number that is not finite has the text `null`.
 */
internal fun numberText(value: Double): String {
    if (value.isNaN() || value.isInfinite()) return "null"
    if (value == 0.0) return "0" // minus zero, too
    val whole = value.toLong()
    if (whole in -EXACT_MAX..EXACT_MAX && whole.toDouble() == value) return whole.toString()
    val shortest = shortest(Math.abs(value))
    val sign = if (value < 0) "-" else ""
    val digits = shortest.unscaledValue().toString()
    val point = digits.length - shortest.scale() // the number of digits before the point
    val text =
        when {
            digits.length <= point && point <= 21 -> digits + "0".repeat(point - digits.length)
            point in 1..21 -> digits.substring(0, point) + "." + digits.substring(point)
            point in -5..0 -> "0." + "0".repeat(-point) + digits
            else -> {
                val rest = if (digits.length > 1) "." + digits.substring(1) else ""
                val exponent = point - 1
                "${digits[0]}${rest}e${if (exponent < 0) "-" else "+"}${Math.abs(exponent)}"
            }
        }
    return sign + text
}

/** Two different decimals with at most this number of digits never read as the same normal float64. */
private const val UNIQUE_DIGITS = 15
private const val DIGITS_MAX = 17

/**
 * Returns the decimal with the fewest digits that reads as `value`, which must be above 0. If two decimals have that
 * length, returns the nearer one. If both are equally near, returns the one whose last digit is even.
 */
private fun shortest(value: Double): BigDecimal {
    val normal = value >= java.lang.Double.MIN_NORMAL
    // Before JDK 19, `toString` may return more digits than needed. A result of at most [UNIQUE_DIGITS] digits is
    // always the shortest one.
    val given = BigDecimal(value.toString()).stripTrailingZeros()
    if (normal && given.precision() <= UNIQUE_DIGITS) return given
    val exact = BigDecimal(value)
    for (digits in (if (normal) UNIQUE_DIGITS else 1) until DIGITS_MAX) {
        val below = exact.round(MathContext(digits, RoundingMode.DOWN))
        val above = exact.round(MathContext(digits, RoundingMode.UP))
        val belowReads = below.toDouble() == value
        val aboveReads = above.toDouble() == value
        if (belowReads && aboveReads)
            return exact.round(MathContext(digits, RoundingMode.HALF_EVEN)).stripTrailingZeros()
        if (belowReads) return below.stripTrailingZeros()
        if (aboveReads) return above.stripTrailingZeros()
    }
    return exact.round(MathContext(DIGITS_MAX, RoundingMode.HALF_EVEN)).stripTrailingZeros()
}
