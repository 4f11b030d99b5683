// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.conformance

import clearway.channel.codec.CodecException
import clearway.channel.codec.CodecLimits
import clearway.channel.codec.Codecs
import clearway.channel.codec.MessageCodec
import clearway.channel.codec.MethodCall
import clearway.channel.codec.MethodCodec
import clearway.channel.codec.MethodReply
import java.io.BufferedInputStream
import java.io.BufferedOutputStream
import java.io.ByteArrayOutputStream
import java.math.BigInteger

/**
 * The program that `conformance/run jvm` starts. Each line of stdin is a case in JSON, and each line of stdout is its
 * answer in JSON. conformance/README.md describes both.
 */
fun main() {
    val input = BufferedInputStream(System.`in`, 1 shl 16)
    val output = BufferedOutputStream(System.out, 1 shl 16)
    val line = ByteArrayOutputStream()
    while (true) {
        val byte = input.read()
        if (byte >= 0 && byte != '\n'.code) {
            line.write(byte)
            continue
        }
        val case = line.toByteArray()
        line.reset()
        if (case.any { it > ' '.code.toByte() }) {
            output.write(answer(case))
            output.write('\n'.code)
        }
        // A caller that sends one case at a time waits for this answer.
        if (byte < 0 || input.available() == 0) output.flush()
        if (byte < 0) return
    }
}

/** The codec for the cases. A case may be nested deeper than a message may be. */
private val cases = Codecs.JSON.with(CodecLimits(depthMax = 1000))

// The codecs by name. A test vector is a value and not a message, so the standard codec writes null as its type byte.
private val messages: Map<String, MessageCodec<*>> =
    mapOf(
        "standard" to Codecs.STANDARD.withEmptyNull(false),
        "json" to Codecs.JSON,
        "string" to Codecs.STRING,
        "binary" to Codecs.BINARY,
    )
private val methods: Map<String, MethodCodec> =
    mapOf("standard-method" to Codecs.STANDARD_METHODS, "json-method" to Codecs.JSON_METHODS)

/** A case that cannot be answered, such as one with an odd number of hex digits. No codec is called for it. */
class InvalidCase(what: String) : RuntimeException(what)

/**
 * The reply has no bytes. A channel treats that as "no reply at all". The conformance cases expect `truncated`, because
 * an envelope is missing.
 */
private class NoReply : RuntimeException()

/** Returns the answer to a line, without a line break. */
fun answer(line: ByteArray): ByteArray {
    val asked =
        try {
            cases.decode(line) as? Map<*, *>
        } catch (_: CodecException) {
            null
        }
    val answer =
        try {
            when (asked?.get("op")) {
                "encode" -> "hex" to toHex(encode(asked))
                "decode" -> "value" to decode(asked)
                else -> throw InvalidCase("no such op")
            }
        } catch (_: NoReply) {
            "error" to mapOf("code" to "truncated", "offset" to 0)
        } catch (refused: CodecException) {
            "error" to mapOf("code" to refused.code, "offset" to refused.offset)
        } catch (_: InvalidCase) {
            "error" to mapOf("code" to "invalid-argument", "offset" to 0)
        }
    return cases.encode(mapOf("id" to asked?.get("id"), answer))
}

@Suppress("UNCHECKED_CAST") // `checked` refuses a value of a type that the string or binary codec cannot encode.
private fun encode(asked: Map<*, *>): ByteArray {
    val codec = asked["codec"] as? String ?: throw InvalidCase("no codec")
    if (!asked.containsKey("value")) throw InvalidCase("no value")
    val value = asked["value"]
    val plain = codec.startsWith("json")
    messages[codec]?.let {
        return (it as MessageCodec<Any>).encode(checked(codec, readNotation(value, plain)))
    }
    val method = methods[codec] ?: throw InvalidCase("no such codec")
    val parts = value as? Map<*, *> ?: throw InvalidCase("no call and no reply")
    val call = parts["call"] as? Map<*, *>
    if (call != null) return method.encodeCall(MethodCall(text(call["method"]), readNotation(call["args"], plain)))
    val error =
        parts["error"] as? Map<*, *>
            ?: return method.encodeReply(MethodReply.Success(readNotation(parts["success"], plain)))
    val failure =
        MethodReply.Failure(
            text(error["code"]),
            textOrNull(error["message"]),
            readNotation(error["details"], plain),
            textOrNull(error["stacktrace"]),
            error.containsKey("stacktrace"),
        )
    return method.encodeReply(failure)
}

private fun checked(codec: String, value: Any?): Any? {
    val fits =
        when (codec) {
            "string" -> value is String?
            "binary" -> value is ByteArray?
            else -> true
        }
    if (!fits) throw InvalidCase("no value of this codec")
    return value
}

private fun decode(asked: Map<*, *>): Any? {
    val codec = asked["codec"] as? String ?: throw InvalidCase("no codec")
    val bytes = fromHex(text(asked["hex"]))
    messages[codec]?.let {
        return writeNotation(it.decode(bytes))
    }
    val method = methods[codec] ?: throw InvalidCase("no such codec")
    if (asked["as"] == "call") {
        val call = method.decodeCall(bytes)
        return mapOf("call" to mapOf("method" to call.method, "args" to writeNotation(call.args)))
    }
    return when (val reply = method.decodeReply(bytes)) {
        is MethodReply.Success -> mapOf("success" to writeNotation(reply.value))
        is MethodReply.Failure -> {
            val parts =
                linkedMapOf("code" to reply.code, "message" to reply.message, "details" to writeNotation(reply.details))
            if (reply.hasStack) parts["stacktrace"] = reply.stack
            mapOf("error" to parts)
        }
        is MethodReply.None -> throw NoReply()
    }
}

private fun text(value: Any?) = value as? String ?: throw InvalidCase("no text")

private fun textOrNull(value: Any?) = if (value is String?) value else throw InvalidCase("no text")

fun toHex(bytes: ByteArray): String {
    val text = StringBuilder(bytes.size * 2)
    for (byte in bytes) text
        .append("0123456789abcdef"[byte.toInt() shr 4 and 15])
        .append("0123456789abcdef"[byte.toInt() and 15])
    return text.toString()
}

fun fromHex(hex: String): ByteArray {
    if (hex.length % 2 != 0 || !hex.all { it in '0'..'9' || it in 'a'..'f' || it in 'A'..'F' })
        throw InvalidCase("no hex")
    return ByteArray(hex.length / 2) { hex.substring(it * 2, it * 2 + 2).toInt(16).toByte() }
}

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
