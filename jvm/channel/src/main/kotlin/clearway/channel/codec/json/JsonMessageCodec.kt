// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec.json

import clearway.channel.codec.CodecLimits
import clearway.channel.codec.MessageCodec
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
