// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.conformance

import clearway.channel.codec.CodecException
import clearway.channel.codec.CodecLimits
import clearway.channel.codec.Codecs
import clearway.channel.codec.MessageCodec
import clearway.channel.codec.MethodCall
import clearway.channel.codec.MethodCodec
import clearway.channel.codec.MethodReply

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
