// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.math.BigInteger

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
