// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.Codecs
import clearway.channel.codec.MessageCodec
import clearway.channel.codec.Tag
import clearway.channel.wire.Head
import clearway.channel.wire.Op
import clearway.channel.wire.Status
import clearway.channel.wire.readError
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Checks that a small message that names one attachment many times causes no large answer. */
class AttachmentEchoTest {
    private val names = 10_000

    /** A call of 46 KB. Its value, written without attachments, takes 160 MB. */
    private fun call(): ByteArray {
        val named = byteArrayOf(Tag.ATTACHED.toByte(), Tag.BYTES.toByte(), 0)
        val list = byteArrayOf(Tag.LIST.toByte(), 254.toByte(), names.toByte(), (names shr 8).toByte())
        val body = list + ByteArray(names * named.size) { named[it % named.size] }
        return frameWithAttachments(Head(Op.CALL, id = 1), "m", listOf(16_000), body)
    }

    private fun check(codec: MessageCodec<Any>, code: String, handler: MessageHandler<Any>) {
        Bare(EndpointOptions().onError { _, _ -> }).use { bare ->
            bare.end.messages("m", codec).handle(handler)
            bare.there.send(call())
            bare.read()
            val reply = bare.frames(Op.REPLY, 1).single()
            assertEquals(Status.ERROR, reply.a.toInt())
            val error = readError(reply.body, "m")
            assertEquals(Pair(code, null), Pair(error.code, error.details))
        }
    }

    @Test
    fun `an answer that repeats an attachment beyond the largest frame is the error too-large`() {
        for (codec in listOf(Codecs.STANDARD, Codecs.STANDARD.withViews())) check(codec, "too-large") { message, _ ->
            Reply.of(message)
        }
    }

    @Test
    fun `details that repeat an attachment beyond the largest frame are left out`() {
        for (codec in listOf(Codecs.STANDARD, Codecs.STANDARD.withViews())) check(codec, "MINE") { message, _ ->
            throw RemoteException("MINE", "mine", message)
        }
    }
}
