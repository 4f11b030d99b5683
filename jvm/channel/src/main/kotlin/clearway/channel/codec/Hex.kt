// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.math.BigInteger

// BigInteger's own reading and writing of digits takes time that grows with their square; hex digits are the bits.

private fun hexDigit(byte: Byte): Int =
    when (val char = byte.toInt()) {
        in '0'.code..'9'.code -> char - '0'.code
        in 'a'.code..'f'.code -> char - 'a'.code + 10
        in 'A'.code..'F'.code -> char - 'A'.code + 10
        else -> -1
    }

/** The integer of hex digits, in the narrowest type that holds it; null where they are none. */
internal fun fromHex(bytes: ByteArray, start: Int, digits: Int, negative: Boolean): Any? {
    if (digits == 0) return null
    val magnitude = ByteArray((digits + 1) / 2)
    // Two digits a byte, from the last on.
    for (index in 0 until digits) {
        val digit = hexDigit(bytes[start + digits - 1 - index])
        if (digit < 0) return null
        val at = magnitude.size - 1 - index / 2
        magnitude[at] = (magnitude[at].toInt() or (digit shl (index % 2 * 4))).toByte()
    }
    val value = BigInteger(1, magnitude)
    return narrow(if (negative) value.negate() else value)
}

/** Hex digits in lower case, without leading zeros, behind a `-` where it is negative. */
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
