// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.Bare
import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.channel.EndpointOptions
import clearway.channel.Outcome
import clearway.channel.RemoteException
import clearway.channel.codec.CodecError
import clearway.channel.codec.CodecException
import clearway.channel.codec.Codecs
import clearway.channel.wire.Head
import clearway.channel.wire.Op
import clearway.channel.wire.Status
import clearway.channel.wire.writeFrame
import java.math.BigInteger
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Tests the errors that a bare peer sends. */
class ErrorsTest {
    private fun error(op: Int, vararg parts: Any?): ByteArray =
        writeFrame(Head(op, id = 1, a = Status.ERROR.toLong()), body = Codecs.STANDARD.encode(parts.toList()))

    /** Returns the error of a call that is answered with an error's parts. */
    private fun replied(options: EndpointOptions, vararg parts: Any?): Throwable? =
        Bare(options).use { bare ->
            val call = bare.end.messages("m").send(1)
            bare.there.send(error(Op.REPLY, *parts))
            Outcome.of(call).get(60, TimeUnit.SECONDS).error
        }

    /** Returns the error of a stream that ends with an error's parts. */
    private fun ended(options: EndpointOptions, vararg parts: Any?): Throwable? =
        Bare(options).use { bare ->
            val read = bare.end.events("e").listen<Any>().read()
            bare.there.send(error(Op.END, *parts))
            Outcome.of(read).get(60, TimeUnit.SECONDS).error
        }

    @Test
    fun `an error whose thrown value is a huge integer tells its size, and any other value its kind`() {
        fun told(value: Any?) =
            (replied(EndpointOptions(), "error", "m", null, mapOf("value" to value)) as RemoteException).cause?.message
        val huge = BigInteger.ONE.shiftLeft(100_000)
        assertEquals(listOf("100001 bits", "text", "7", "null"), listOf(huge, "text", 7, null).map(::told))
        assertEquals(listOf("ArrayList", "LinkedHashMap"), listOf(listOf(huge), mapOf(1 to huge)).map(::told))
    }

    @Test
    fun `an error with more values than valuesMax is refused`() {
        val options = { EndpointOptions().valuesMax(1000) }
        val many = arrayOf("error", "m", List(1000) { null })
        for (error in listOf(replied(options(), *many), ended(options(), *many))) {
            assertEquals(ChannelError.PROTOCOL, (error as ChannelException).error)
            assertEquals(CodecError.TOO_LARGE, (error.cause as CodecException).error)
        }
        val fewer = arrayOf("error", "m", List(990) { null })
        for (error in listOf(replied(options(), *fewer), ended(options(), *fewer))) {
            assertEquals(990, ((error as RemoteException).details as List<*>).size)
        }
    }
}
