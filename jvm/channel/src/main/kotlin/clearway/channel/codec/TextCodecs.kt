// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.nio.ByteBuffer
import java.nio.ByteOrder

/**
 * Encodes messages that are text, in UTF-8. Null is encoded as a message without bytes. A message without bytes is
 * decoded as the empty text. See [Codecs.STRING].
 */
public class StringCodec internal constructor() : MessageCodec<String> {
    override val name: String
        get() = "string"

    override fun encode(value: String?): ByteArray {
        if (value == null) return NOTHING
        if (utf8Size(value) < 0)
            throw CodecException(CodecError.NOT_ENCODABLE, "a text has half of a surrogate pair", 0, traced = true)
        return value.toByteArray(Charsets.UTF_8)
    }

    override fun decode(message: ByteArray): String = decodeOwned(ByteBuffer.wrap(message))

    override fun decodeOwned(message: ByteBuffer): String =
        inArray(message) { bytes, start, end ->
            val view = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
            readUtf8(bytes, view, start, end, start)
        }
}

/**
 * Passes on messages that are bytes. Null is encoded as a message without bytes. The codec copies each message, with
 * one exception: [decodeOwned] returns the buffer's own array if the message fills the array. See [Codecs.BINARY].
 */
public class BinaryCodec internal constructor() : MessageCodec<ByteArray> {
    override val name: String
        get() = "binary"

    override fun encode(value: ByteArray?): ByteArray = value?.copyOf() ?: NOTHING

    override fun decode(message: ByteArray): ByteArray = message.copyOf()

    override fun decodeOwned(message: ByteBuffer): ByteArray {
        if (message.hasArray() && message.remaining() == message.array().size) return message.array()
        return ByteArray(message.remaining()).also { message.duplicate().get(it) }
    }
}
