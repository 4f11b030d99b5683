// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec.json

import clearway.channel.codec.CodecError
import clearway.channel.codec.CodecException
import clearway.channel.codec.CodecLimits
import clearway.channel.codec.MessageCodec
import clearway.channel.codec.MethodCall
import clearway.channel.codec.MethodCodec
import clearway.channel.codec.MethodReply
import clearway.channel.codec.NOTHING
import clearway.channel.codec.SpareScratch
import clearway.channel.codec.Writer
import clearway.channel.codec.inArray
import java.nio.ByteBuffer

/**
 * Encodes messages as JSON, for peers that support only JSON. The format is that of `JSON.stringify`. A float that is
 * not finite becomes null. An integer beyond 2^53 becomes the nearest float64. A list of numbers becomes an object.
 *
 * The codec decodes an object as a LinkedHashMap. A number becomes an Integer or a Long if it is whole and exact as
 * float64. Any other number becomes a Double. `itemsMax` has no effect, because JSON announces no counts.
 *
 * @see clearway.channel.codec.Codecs.JSON
 */
public class JsonMessageCodec internal constructor(private val limits: CodecLimits) : MessageCodec<Any> {
    private val spareScratch = SpareScratch()

    override val name: String
        get() = "json"

    /** Returns a codec with these limits. */
    public fun with(limits: CodecLimits): JsonMessageCodec = JsonMessageCodec(limits)

    override fun encode(value: Any?): ByteArray = encodeWithin(value, Writer.ARRAY_MAX)

    internal fun encodeWithin(value: Any?, bytesMax: Long): ByteArray {
        if (value == null) return NOTHING
        return spareScratch.use(bytesMax) { scratch ->
            JsonWriter(scratch.writer, limits.depthMax).value(value, 0)
            scratch.writer.copy()
        }
    }

    override fun decode(message: ByteArray): Any? = decodeOwned(ByteBuffer.wrap(message))

    override fun decodeOwned(message: ByteBuffer): Any? = decode(message, Int.MAX_VALUE)

    /** Decodes a message that an endpoint received. It may have at most `valuesMax` values. */
    internal fun decode(message: ByteBuffer, valuesMax: Int): Any? {
        if (!message.hasRemaining()) return null
        return inArray(message) { bytes, start, end ->
            JsonReader(bytes, start, end, limits.depthMax, valuesMax).whole()
        }
    }
}

/**
 * Encodes method calls as JSON. A call is `{"method": …, "args": …}`. A reply is `[value]` or `[code, message,
 * details]`, with an optional stack trace at the end. The envelope does not count as a nesting level.
 *
 * @see clearway.channel.codec.Codecs.JSON_METHODS
 */
public class JsonMethodCodec internal constructor(limits: CodecLimits) : MethodCodec {
    private val depthMax = limits.depthMax + 1
    private val spareScratch = SpareScratch()

    override val name: String
        get() = "json"

    /** Returns a codec with these limits. */
    public fun with(limits: CodecLimits): JsonMethodCodec = JsonMethodCodec(limits)

    override fun encodeCall(call: MethodCall): ByteArray = encodeWithin(call, Writer.ARRAY_MAX)

    internal fun encodeWithin(call: MethodCall, bytesMax: Long): ByteArray =
        write(bytesMax) {
            raw("{\"method\":")
            text(call.method)
            raw(",\"args\":")
            value(call.args, 1)
            raw("}")
        }

    override fun decodeCall(message: ByteArray): MethodCall = decodeCall(message, Int.MAX_VALUE)

    internal fun decodeCall(message: ByteArray, valuesMax: Int): MethodCall {
        val call = read(message, valuesMax) as? Map<*, *> ?: throw malformed()
        val method = call["method"] as? String ?: throw malformed()
        return MethodCall(method, call["args"])
    }

    override fun encodeReply(reply: MethodReply): ByteArray = encodeWithin(reply, Writer.ARRAY_MAX)

    internal fun encodeWithin(reply: MethodReply, bytesMax: Long): ByteArray {
        if (reply is MethodReply.None) return NOTHING
        return write(bytesMax) {
            raw("[")
            if (reply is MethodReply.Success) value(reply.value, 1)
            if (reply is MethodReply.Failure) {
                text(reply.code)
                raw(",")
                textOrNull(reply.message)
                raw(",")
                value(reply.details, 1)
                if (reply.hasStack) {
                    raw(",")
                    textOrNull(reply.stack)
                }
            }
            raw("]")
        }
    }

    override fun decodeReply(message: ByteArray): MethodReply = decodeReply(message, Int.MAX_VALUE)

    internal fun decodeReply(message: ByteArray, valuesMax: Int): MethodReply {
        if (message.isEmpty()) return MethodReply.None
        val parts = read(message, valuesMax) as? List<*> ?: throw malformed()
        if (parts.size == 1) return MethodReply.Success(parts[0])
        if (parts.size != 3 && parts.size != 4) throw malformed()
        val code = parts[0] as? String ?: throw malformed()
        val hasStack = parts.size == 4
        val stack = if (hasStack) textOrNull(parts[3]) else null
        return MethodReply.Failure(code, textOrNull(parts[1]), parts[2], stack, hasStack)
    }

    private fun textOrNull(part: Any?): String? = if (part is String?) part else throw malformed()

    private fun read(message: ByteArray, valuesMax: Int) =
        JsonReader(message, 0, message.size, depthMax, valuesMax).whole()

    private inline fun write(bytesMax: Long, act: JsonWriter.() -> Unit): ByteArray =
        spareScratch.use(bytesMax) { scratch ->
            JsonWriter(scratch.writer, depthMax).act()
            scratch.writer.copy()
        }

    private fun malformed() = CodecException(CodecError.MALFORMED, "JSON that is no call or no reply", 0)
}
