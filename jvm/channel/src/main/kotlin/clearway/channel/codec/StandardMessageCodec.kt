// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.nio.ByteBuffer

/**
 * Flutter's standard codec (spec/wire.md): compact, and it keeps types.
 *
 * |Java                                                         |on the wire                               |read back as                                                   |
 * |-------------------------------------------------------------|------------------------------------------|---------------------------------------------------------------|
 * |null, Boolean, String                                        |the same                                  |the same                                                       |
 * |Byte, Short, Integer, Long, BigInteger                       |int32, int64 or big integer, the narrowest|Integer, Long, BigInteger: the narrowest                       |
 * |Float, Double                                                |float64                                   |Double                                                         |
 * |byte[], int[], long[], float[], double[], and buffers of them|a list of that width                      |the array                                                      |
 * |List, Object[]                                               |list                                      |ArrayList                                                      |
 * |Map                                                          |map                                       |LinkedHashMap; a list or a map that is a key equals only itself|
 *
 * Values without a form are refused, never changed: texts with half of a surrogate pair, sets, dates.
 *
 * @see Codecs.STANDARD
 */
public class StandardMessageCodec
internal constructor(
    private val limits: CodecLimits,
    private val extensions: Extensions,
    private val emptyNull: Boolean,
    internal val views: Boolean = false,
) : MessageCodec<Any> {
    private val shelf = ScratchShelf()

    override val name: String
        get() = "standard"

    /** The same codec with these limits. */
    public fun with(limits: CodecLimits): StandardMessageCodec =
        StandardMessageCodec(limits, extensions, emptyNull, views)

    /** The same codec with these types as well. Throws IllegalArgumentException for a tag or a class that is taken. */
    public fun with(vararg added: Extension<*>): StandardMessageCodec =
        StandardMessageCodec(limits, extensions + added.asList(), emptyNull, views)

    /**
     * The same codec, where a null that is all of a message has its type byte (false), or no bytes (true, the default).
     */
    public fun withEmptyNull(emptyNull: Boolean): StandardMessageCodec =
        StandardMessageCodec(limits, extensions, emptyNull, views)

    /**
     * The same codec, with which a channel's messages are read as [decodeOwned] does: lists of numbers are buffers,
     * views of the message, in place of arrays.
     */
    public fun withViews(): StandardMessageCodec = StandardMessageCodec(limits, extensions, emptyNull, true)

    override fun encode(value: Any?): ByteArray {
        if (value == null && emptyNull) return NOTHING
        return shelf.use { scratch ->
            write(scratch.writer, value)
            scratch.writer.copy()
        }
    }

    /**
     * Writes into what the buffer has left, and moves its position behind the message; false where that does not fit,
     * and then nothing was written. Allocates nothing for the message. Throws as [encode] does.
     */
    public fun encodeInto(value: Any?, buffer: ByteBuffer): Boolean {
        if (value == null && emptyNull) return true
        return shelf.use { scratch ->
            val writer = scratch.writer
            write(writer, value)
            val fits = writer.offset <= buffer.remaining()
            if (fits) buffer.put(writer.bytes, 0, writer.offset)
            fits
        }
    }

    override fun decode(message: ByteArray): Any? = decode(message, 0, message.size, false, null)

    override fun decodeOwned(message: ByteBuffer): Any? = decode(message, true, null)

    internal fun decode(message: ByteBuffer, owned: Boolean, attached: List<ByteBuffer>?): Any? =
        inArray(message) { bytes, start, end -> decode(bytes, start, end, owned, attached) }

    private fun decode(bytes: ByteArray, start: Int, end: Int, owned: Boolean, attached: List<ByteBuffer>?): Any? {
        if (start == end && emptyNull) return null
        return shelf.use { scratch ->
            val reader = Reader(bytes, start, end, scratch.keys, owned, attached)
            val value = source(reader).value(0)
            reader.finish()
            value
        }
    }

    /**
     * The bytes of a message whose lists came beside it, with the lists in them: for who passes bytes on as they are. A
     * message, a method's call and its reply are each a row of values (an envelope's byte reads as null or true), so
     * that the caller need not know which it is. Copies. Throws [CodecException] for what a codec without extensions
     * does not read.
     */
    internal fun inlined(message: ByteBuffer, attached: List<ByteBuffer>): ByteArray {
        val values = ArrayList<Any?>()
        inArray(message) { bytes, start, end ->
            shelf.use { scratch ->
                val reader = Reader(bytes, start, end, scratch.keys, true, attached)
                val source = source(reader)
                while (reader.at < reader.end) values.add(source.value(0))
                if (reader.attachedBytes > INLINED_MAX)
                    throw reader.refusal(CodecError.TOO_LARGE, "lists of ${reader.attachedBytes} bytes in all", start)
            }
        }
        return shelf.use { scratch ->
            val sink = sink(scratch.writer)
            for (value in values) sink.value(value, 0)
            scratch.writer.copy()
        }
    }

    private fun write(writer: Writer, value: Any?) = ValueSink(writer, limits, extensions).value(value, 0)

    internal fun source(reader: Reader) = ValueSource(reader, limits, extensions)

    internal fun sink(writer: Writer) = ValueSink(writer, limits, extensions)
}

internal val NOTHING = ByteArray(0)

/** As much as a frame has at most, unless told otherwise: one list that is named often is written as often. */
private const val INLINED_MAX = 64L shl 20

/** A buffer's remaining bytes as an array: its own array if possible, otherwise a copy. */
internal inline fun <T> inArray(message: ByteBuffer, act: (bytes: ByteArray, start: Int, end: Int) -> T): T {
    if (message.hasArray()) {
        val start = message.arrayOffset() + message.position()
        return act(message.array(), start, start + message.remaining())
    }
    val copy = ByteArray(message.remaining())
    message.duplicate().get(copy)
    return act(copy, 0, copy.size)
}
