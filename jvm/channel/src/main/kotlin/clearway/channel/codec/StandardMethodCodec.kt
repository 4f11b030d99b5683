// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.nio.ByteBuffer

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
