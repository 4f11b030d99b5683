// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.nio.ByteBuffer

/**
 * Flutter's standard codec (spec/wire.md). It is compact and preserves types.
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
 * The codec refuses other values and never converts them: for example sets, dates, and texts with an unpaired
 * surrogate.
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
    private val spareScratch = SpareScratch()

    override val name: String
        get() = "standard"

    /** Returns a copy of this codec with these limits. */
    public fun with(limits: CodecLimits): StandardMessageCodec =
        StandardMessageCodec(limits, extensions, emptyNull, views)

    /**
     * Returns a copy of this codec with these extensions added. Throws IllegalArgumentException for a type byte or a
     * class that the codec already has.
     */
    public fun with(vararg added: Extension<*>): StandardMessageCodec =
        StandardMessageCodec(limits, extensions + added.asList(), emptyNull, views)

    /**
     * Returns a copy of this codec with another encoding of null. If `emptyNull` is true (the default), a message that
     * is null has no bytes. If it is false, the message is the type byte of null.
     */
    public fun withEmptyNull(emptyNull: Boolean): StandardMessageCodec =
        StandardMessageCodec(limits, extensions, emptyNull, views)

    /**
     * Returns a copy of this codec that decodes a channel's messages with views. A list of numbers is then a buffer
     * that views the message, not an array. See [decodeOwned].
     */
    public fun withViews(): StandardMessageCodec = StandardMessageCodec(limits, extensions, emptyNull, true)

    override fun encode(value: Any?): ByteArray = encodeWithin(value, Writer.ARRAY_MAX)

    internal fun encodeWithin(value: Any?, bytesMax: Long): ByteArray {
        if (value == null && emptyNull) return NOTHING
        return spareScratch.use(bytesMax) { scratch ->
            write(scratch.writer, value)
            scratch.writer.copy()
        }
    }

    /**
     * Writes a message into the buffer's remaining space and advances the buffer's position. Returns false, and writes
     * nothing, if the message does not fit. The codec encodes into an internal buffer first, then copies the message.
     * Allocates memory for that buffer only if it must grow or another thread is using it. Throws the exceptions of
     * [encode].
     */
    public fun encodeInto(value: Any?, buffer: ByteBuffer): Boolean {
        if (value == null && emptyNull) return true
        return spareScratch.use { scratch ->
            val writer = scratch.writer
            write(writer, value)
            val fits = writer.offset <= buffer.remaining()
            if (fits) buffer.put(writer.bytes, 0, writer.offset)
            fits
        }
    }

    override fun decode(message: ByteArray): Any? = decode(message, 0, message.size, false, null, Int.MAX_VALUE)

    override fun decodeOwned(message: ByteBuffer): Any? = decode(message, true, null, Int.MAX_VALUE)

    /** Decodes a message that an endpoint received. It may have at most `valuesMax` values. */
    internal fun decode(message: ByteBuffer, owned: Boolean, attached: List<ByteBuffer>?, valuesMax: Int): Any? =
        inArray(message) { bytes, start, end -> decode(bytes, start, end, owned, attached, valuesMax) }

    private fun decode(
        bytes: ByteArray,
        start: Int,
        end: Int,
        owned: Boolean,
        attached: List<ByteBuffer>?,
        valuesMax: Int,
    ): Any? {
        if (start == end && emptyNull) return null
        return spareScratch.use { scratch ->
            val reader = Reader(bytes, start, end, scratch.keys, owned, attached)
            val value = source(reader, valuesMax).value(0)
            reader.finish()
            value
        }
    }

    /**
     * Returns a copy of a message in which lists replace the references to attachments. Code that forwards bytes uses
     * this function. That code need not know what kind of message it forwards. A message, a method call and a reply are
     * all sequences of values. The first byte of a reply is 0 or 1, which reads as null or true. Throws
     * [CodecException] for a message that this codec cannot decode, and `too-large` for more than `valuesMax` values.
     * Throws [OverLimit] if the copy would be larger than `bytesMax`. A list is copied once for each reference to it.
     */
    internal fun inlined(message: ByteBuffer, attached: List<ByteBuffer>, valuesMax: Int, bytesMax: Int): ByteArray {
        val values = ArrayList<Any?>()
        inArray(message) { bytes, start, end ->
            spareScratch.use { scratch ->
                val reader = Reader(bytes, start, end, scratch.keys, true, attached)
                val source = source(reader, valuesMax)
                while (reader.at < reader.end) {
                    if (values.size >= valuesMax)
                        throw reader.refusal(CodecError.TOO_LARGE, "more than $valuesMax values", reader.at)
                    values.add(source.value(0))
                    if (reader.attachedBytes > bytesMax) throw OverLimit(bytesMax)
                }
            }
        }
        return spareScratch.use(bytesMax.toLong()) { scratch ->
            val sink = sink(scratch.writer)
            for (value in values) sink.value(value, 0)
            scratch.writer.copy()
        }
    }

    private fun write(writer: Writer, value: Any?) = ValueSink(writer, limits, extensions).value(value, 0)

    internal fun source(reader: Reader, valuesMax: Int) = ValueSource(reader, limits, extensions, valuesMax)

    internal fun sink(writer: Writer) = ValueSink(writer, limits, extensions)
}

internal val NOTHING = ByteArray(0)

/**
 * Calls `act` with an array that contains the buffer's remaining bytes. The array is the buffer's own if it has one,
 * otherwise a copy.
 */
internal inline fun <T> inArray(message: ByteBuffer, act: (bytes: ByteArray, start: Int, end: Int) -> T): T {
    if (message.hasArray()) {
        val start = message.arrayOffset() + message.position()
        return act(message.array(), start, start + message.remaining())
    }
    val copy = ByteArray(message.remaining())
    message.duplicate().get(copy)
    return act(copy, 0, copy.size)
}

/** Flutter's standard codec for method calls (spec/wire.md). Encodes values as [StandardMessageCodec] does. */
public class StandardMethodCodec internal constructor(private val values: StandardMessageCodec) : MethodCodec {
    private val spareScratch = SpareScratch()
    internal val views: Boolean
        get() = values.views

    override val name: String
        get() = "standard"

    /** Returns a method codec that encodes values with `values`. It has the limits and the extensions of `values`. */
    public fun with(values: StandardMessageCodec): StandardMethodCodec = StandardMethodCodec(values)

    override fun encodeCall(call: MethodCall): ByteArray = encodeWithin(call, Writer.ARRAY_MAX)

    internal fun encodeWithin(call: MethodCall, bytesMax: Long): ByteArray =
        spareScratch.use(bytesMax) { scratch ->
            val sink = values.sink(scratch.writer)
            sink.text(call.method)
            sink.value(call.args, 0)
            scratch.writer.copy()
        }

    override fun decodeCall(message: ByteArray): MethodCall =
        decodeCall(ByteBuffer.wrap(message), false, null, Int.MAX_VALUE)

    internal fun decodeCall(
        message: ByteBuffer,
        owned: Boolean,
        attached: List<ByteBuffer>?,
        valuesMax: Int,
    ): MethodCall =
        read(message, owned, attached, valuesMax) { reader, source ->
            val method = text(reader)
            MethodCall(method, source.value(0))
        }

    override fun encodeReply(reply: MethodReply): ByteArray = encodeWithin(reply, Writer.ARRAY_MAX)

    internal fun encodeWithin(reply: MethodReply, bytesMax: Long): ByteArray {
        if (reply is MethodReply.None) return NOTHING
        return spareScratch.use(bytesMax) { scratch ->
            val sink = values.sink(scratch.writer)
            when (reply) {
                is MethodReply.None -> {}
                is MethodReply.Success -> {
                    sink.writer.byte(Envelope.SUCCESS)
                    sink.value(reply.value, 0)
                }
                is MethodReply.Failure -> {
                    sink.writer.byte(Envelope.ERROR)
                    sink.text(reply.code)
                    sink.value(reply.message, 0)
                    sink.value(reply.details, 0)
                    if (reply.hasStack) sink.value(reply.stack, 0)
                }
            }
            scratch.writer.copy()
        }
    }

    override fun decodeReply(message: ByteArray): MethodReply =
        decodeReply(ByteBuffer.wrap(message), false, null, Int.MAX_VALUE)

    internal fun decodeReply(
        message: ByteBuffer,
        owned: Boolean,
        attached: List<ByteBuffer>?,
        valuesMax: Int,
    ): MethodReply {
        if (!message.hasRemaining()) return MethodReply.None
        return read(message, owned, attached, valuesMax) { reader, source ->
            when (reader.byte()) {
                Envelope.SUCCESS -> MethodReply.Success(source.value(0))
                Envelope.ERROR -> failure(reader, source)
                else -> throw reader.refusal(CodecError.MALFORMED, "an envelope is neither 0 nor 1", reader.start)
            }
        }
    }

    private fun failure(reader: Reader, source: ValueSource): MethodReply {
        val code = text(reader)
        val message = textOrNull(reader)
        val details = source.value(0)
        val hasStack = reader.left > 0
        val stack = if (hasStack) textOrNull(reader) else null
        return MethodReply.Failure(code, message, details, stack, hasStack)
    }

    private inline fun <T> read(
        message: ByteBuffer,
        owned: Boolean,
        attached: List<ByteBuffer>?,
        valuesMax: Int,
        act: (Reader, ValueSource) -> T,
    ): T =
        inArray(message) { bytes, start, end ->
            spareScratch.use { scratch ->
                val reader = Reader(bytes, start, end, scratch.keys, owned, attached)
                val read = act(reader, values.source(reader, valuesMax))
                reader.finish()
                read
            }
        }

    private fun text(reader: Reader): String {
        val from = reader.at
        if (reader.byte() != Tag.TEXT) throw reader.refusal(CodecError.MALFORMED, "a text was expected", from)
        return reader.key()
    }

    private fun textOrNull(reader: Reader): String? {
        if (reader.left > 0 && reader.bytes[reader.at].toInt() == Tag.NULL) {
            reader.at++
            return null
        }
        return text(reader)
    }
}
