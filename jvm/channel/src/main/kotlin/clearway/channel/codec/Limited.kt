// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import clearway.channel.codec.json.JsonMessageCodec
import clearway.channel.codec.json.JsonMethodCodec

// Encoding with a limit on the size of the message. A value may name one array many times, and the message has a copy
// for each place: a request of 46 KB could otherwise make an endpoint write hundreds of MB before it checks the size.

/**
 * A message would be larger than its limit of `bytesMax` bytes. The endpoint turns this exception into its own error.
 */
internal class OverLimit(val bytesMax: Int) :
    RuntimeException("a message of more than $bytesMax bytes", null, false, false)

/**
 * Encodes a value in at most `bytesMax` bytes. Throws [OverLimit] as soon as the message would be larger; the memory
 * that it took until then is not much more than `bytesMax`. An application's own codec knows no limit, so its message
 * is checked when it is complete. Throws the codec's exceptions.
 */
internal fun <T> MessageCodec<T>.encode(value: T?, bytesMax: Int): ByteArray {
    val isOver =
        when (value) {
            is String -> name == "string" && utf8Size(value) > bytesMax
            is ByteArray -> name == "binary" && value.size > bytesMax
            else -> false
        }
    if (isOver) throw OverLimit(bytesMax)
    return when (this) {
        is StandardMessageCodec -> encodeWithin(value, bytesMax.toLong())
        is JsonMessageCodec -> encodeWithin(value, bytesMax.toLong())
        else -> encode(value).also { check(it, bytesMax) }
    }
}

/** Encodes a call in at most `bytesMax` bytes, as [encode] does a value. */
internal fun MethodCodec.encodeCall(call: MethodCall, bytesMax: Int): ByteArray =
    when (this) {
        is StandardMethodCodec -> encodeWithin(call, bytesMax.toLong())
        is JsonMethodCodec -> encodeWithin(call, bytesMax.toLong())
        else -> encodeCall(call).also { check(it, bytesMax) }
    }

/** Encodes a reply in at most `bytesMax` bytes, as [encode] does a value. */
internal fun MethodCodec.encodeReply(reply: MethodReply, bytesMax: Int): ByteArray =
    when (this) {
        is StandardMethodCodec -> encodeWithin(reply, bytesMax.toLong())
        is JsonMethodCodec -> encodeWithin(reply, bytesMax.toLong())
        else -> encodeReply(reply).also { check(it, bytesMax) }
    }

private fun check(message: ByteArray, bytesMax: Int) {
    if (message.size > bytesMax) throw OverLimit(bytesMax)
}
