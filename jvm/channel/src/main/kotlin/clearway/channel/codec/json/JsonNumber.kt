// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec.json

import java.math.BigDecimal
import java.math.MathContext
import java.math.RoundingMode

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
