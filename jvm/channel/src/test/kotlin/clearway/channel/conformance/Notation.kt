// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.conformance

import java.math.BigInteger

// The integers that JSON carries exactly. This file converts values from and to the notation of conformance/README.md,
// which is itself JSON.

private val exact = -((1L shl 53) - 1)..(1L shl 53) - 1

/** Maximum number of zeros that a notation may request. It suffices for every vector and needs little memory. */
private const val ZEROS_MAX = 1 shl 26

/**
 * Returns the value that a notation describes. `plain` means that the value is for JSON: integers beyond 2^53 become
 * floats.
 */
fun readNotation(notation: Any?, plain: Boolean): Any? =
    when (notation) {
        is List<*> -> notation.map { readNotation(it, plain) }
        is Map<*, *> -> readForm(notation, plain)
        else -> notation
    }

private fun readForm(notation: Map<*, *>, plain: Boolean): Any? {
    val form = if (notation.size == 1) notation.keys.first() else null
    val parts = notation[form]
    return when (form) {
        "int64",
        "bigint" -> {
            val integer = integer(parts)
            if (plain && (integer.bitLength() > 63 || integer.toLong() !in exact)) integer.toDouble() else integer
        }
        "float64" -> float(parts)
        "uint8len" -> {
            if (parts !is Int || parts !in 0..ZEROS_MAX) throw InvalidCase("uint8len")
            ByteArray(parts)
        }
        "uint8" -> floats(parts).let { list -> ByteArray(list.size) { list[it].toInt().toByte() } }
        "int32" -> floats(parts).let { list -> IntArray(list.size) { list[it].toInt() } }
        "float32" -> floats(parts).let { list -> FloatArray(list.size) { list[it].toFloat() } }
        "float64list" -> floats(parts).toDoubleArray()
        "int64list" -> elements(parts).map { integer(it).toLong() }.toLongArray()
        "map" -> {
            val map = LinkedHashMap<Any?, Any?>()
            for (each in elements(parts)) {
                val (key, value) = elements(each).also { if (it.size != 2) throw InvalidCase("an entry") }
                map[readNotation(key, plain)] = readNotation(value, plain)
            }
            map
        }
        else -> notation.mapValues { readNotation(it.value, plain) }
    }
}

private fun elements(parts: Any?) = parts as? List<*> ?: throw InvalidCase("no list")

private fun floats(parts: Any?) = elements(parts).map { float(it) }

private fun float(notation: Any?): Double =
    when (notation) {
        is Number -> notation.toDouble()
        "NaN" -> Double.NaN
        "Infinity" -> Double.POSITIVE_INFINITY
        "-Infinity" -> Double.NEGATIVE_INFINITY
        "-0" -> -0.0
        else -> throw InvalidCase("no float")
    }

private fun integer(notation: Any?): BigInteger {
    if (notation is Int || notation is Long) return BigInteger.valueOf((notation as Number).toLong())
    val text = notation as? String ?: throw InvalidCase("no integer")
    val negative = text.startsWith("-")
    val digits = if (negative) text.substring(1) else text
    val magnitude =
        try {
            if (digits.startsWith("0x")) BigInteger(digits.substring(2), 16) else BigInteger(digits)
        } catch (_: NumberFormatException) {
            throw InvalidCase("no integer")
        }
    return if (negative) magnitude.negate() else magnitude
}

/** Returns the notation of a value. */
fun writeNotation(value: Any?): Any? =
    when (value) {
        is Int -> value
        is Long -> if (value in exact) value else mapOf("int64" to value.toString())
        is BigInteger -> mapOf("bigint" to "${if (value.signum() < 0) "-" else ""}0x${value.abs().toString(16)}")
        is Double -> mapOf("float64" to writeFloat(value))
        is ByteArray -> mapOf("uint8" to value.map { it.toInt() and 0xff })
        is IntArray -> mapOf("int32" to value.asList())
        is LongArray -> mapOf("int64list" to value.map { it.toString() })
        is FloatArray -> mapOf("float32" to value.map { writeFloat(it.toDouble()) })
        is DoubleArray -> mapOf("float64list" to value.map { writeFloat(it) })
        is List<*> -> value.map { writeNotation(it) }
        is Map<*, *> -> mapOf("map" to value.map { (key, each) -> listOf(writeNotation(key), writeNotation(each)) })
        else -> value
    }

private fun writeFloat(value: Double): Any =
    when {
        value.isNaN() -> "NaN"
        value == Double.POSITIVE_INFINITY -> "Infinity"
        value == Double.NEGATIVE_INFINITY -> "-Infinity"
        value == 0.0 && 1 / value < 0 -> "-0"
        else -> value
    }
