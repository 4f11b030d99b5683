// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec.json

import clearway.channel.codec.CodecLimits
import clearway.channel.codec.MessageCodec
import clearway.channel.codec.NOTHING
import clearway.channel.codec.ScratchShelf
import clearway.channel.codec.inArray
import java.nio.ByteBuffer

/**
 * Messages as JSON, for ends that have nothing else. Writes what `JSON.stringify` writes: floats that are not finite
 * are null, integers beyond 2^53 the nearest float64, lists of numbers objects. An object is read as a LinkedHashMap, a
 * number that is whole and exact as an Integer or a Long, any other as a Double. `itemsMax` does not bound it: a value
 * of JSON announces none.
 *
 * @see clearway.channel.codec.Codecs.JSON
 */
public class JsonMessageCodec internal constructor(private val limits: CodecLimits) : MessageCodec<Any> {
    private val shelf = ScratchShelf()

    override val name: String
        get() = "json"

    /** The same codec with these limits. */
    public fun with(limits: CodecLimits): JsonMessageCodec = JsonMessageCodec(limits)

    override fun encode(value: Any?): ByteArray {
        if (value == null) return NOTHING
        return shelf.use { scratch ->
            JsonWriter(scratch.writer, limits.depthMax).value(value, 0)
            scratch.writer.copy()
        }
    }

    override fun decode(message: ByteArray): Any? = decodeOwned(ByteBuffer.wrap(message))

    override fun decodeOwned(message: ByteBuffer): Any? {
        if (!message.hasRemaining()) return null
        return inArray(message) { bytes, start, end -> JsonReader(bytes, start, end, limits.depthMax).whole() }
    }
}
