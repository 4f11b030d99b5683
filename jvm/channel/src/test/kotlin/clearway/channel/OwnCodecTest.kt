// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.Codecs
import clearway.channel.codec.MessageCodec
import clearway.channel.codec.MethodCodec
import clearway.channel.codec.MethodReply
import clearway.channel.codec.Tag
import clearway.channel.endpoint.bytesOf
import clearway.channel.wire.Head
import clearway.channel.wire.Op
import clearway.channel.wire.readError
import java.nio.ByteBuffer
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Checks that an application's own codec reads the attachments of a message as a part of the message. */
class OwnCodecTest {
    /** Keeps the messages that it decodes. */
    private class Own : MessageCodec<Any> by Codecs.STANDARD {
        val decoded = LinkedBlockingQueue<ByteArray>()

        override val name: String
            get() = "own"

        override fun decodeOwned(message: ByteBuffer): Any? {
            decoded.add(bytesOf(message))
            return Codecs.STANDARD.decodeOwned(message)
        }
    }

    private class OwnMethods : MethodCodec by Codecs.STANDARD_METHODS {
        override val name: String
            get() = "own"
    }

    /** The first attachment, in a message. */
    private val attached = byteArrayOf(Tag.ATTACHED.toByte(), Tag.BYTES.toByte(), 0)

    private fun Bare.send(head: Head, name: String, body: ByteArray) {
        there.send(frameWithAttachments(head, name, listOf(BYTES), body))
    }

    private fun Bare.reply(): ByteBuffer {
        read()
        return frames(Op.REPLY, 1).single().body
    }

    @Test
    fun `an own codec of messages has the attachments in the message`() =
        Bare().use { bare ->
            val codec = Own()
            bare.end.messages("m", codec).handle({ value, _ -> Reply.of((value as ByteBuffer).remaining()) })
            bare.send(Head(Op.CALL, id = 1), "m", attached)
            assertEquals(ByteBuffer.wrap(Codecs.STANDARD.encode(BYTES)), bare.reply())
            assertArrayEquals(Codecs.STANDARD.encode(ByteArray(BYTES)), codec.decoded.single())
        }

    @Test
    fun `an own codec of methods has the attachments in calls, replies and events`() =
        Bare().use { bare ->
            val methods = bare.end.methods("f", OwnMethods())
            methods.handle(MethodTable().on("it") { value, _ -> (value as ByteArray).size })
            bare.send(Head(Op.CALL, id = 1), "f", Codecs.STANDARD.encode("it") + attached)
            val expected = Codecs.STANDARD_METHODS.encodeReply(MethodReply.Success(BYTES))
            assertEquals(ByteBuffer.wrap(expected), bare.reply())

            val call = methods.call<ByteArray>("it")
            bare.send(Head(Op.REPLY, id = 1), "", byteArrayOf(0) + attached)
            assertArrayEquals(ByteArray(BYTES), call.get(60, TimeUnit.SECONDS))

            val events = bare.end.events("e", OwnMethods()).listen<ByteArray>()
            bare.send(Head(Op.EVENT, id = 1), "", byteArrayOf(0) + attached)
            assertArrayEquals(ByteArray(BYTES), events.read().get(60, TimeUnit.SECONDS).value)
        }

    @Test
    fun `a message for an own codec that names an attachment too often for a frame is refused with too-large`() =
        Bare(EndpointOptions().onError { _, _ -> }).use { bare ->
            bare.end.messages("m", Own()).handle({ _, _ -> Reply.empty() })
            val names = ByteArray(100 * attached.size) { attached[it % attached.size] }
            bare.send(Head(Op.CALL, id = 1), "m", byteArrayOf(Tag.LIST.toByte(), 100) + names)
            assertEquals("too-large", readError(bare.reply(), "", Int.MAX_VALUE).code)
        }

    private companion object {
        /** The bytes of the attachment. A frame has at most 1 MiB. */
        const val BYTES = 16_000
    }
}
