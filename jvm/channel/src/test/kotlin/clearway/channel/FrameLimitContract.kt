// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.Codecs
import clearway.channel.codec.MethodCodec
import clearway.channel.transport.ChannelTransport
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The contract of an endpoint with values that no frame can hold, over any transport. */
abstract class FrameLimitContract {
    abstract fun transports(): Pair<ChannelTransport, ChannelTransport>

    /** A value of a few bytes whose message has 160 MB, because it names one list many times. It counts the places. */
    private class Named : AbstractList<ByteArray>(), RandomAccess {
        private val named = ByteArray(NAMED_BYTES)
        var written = 0
            private set

        override val size: Int
            get() = 10_000

        override fun get(index: Int): ByteArray {
            written++
            return named
        }
    }

    private class Limited(under: ChannelTransport) : ChannelTransport by under {
        override val frameBytesMax: Int
            get() = FRAME_BYTES_MAX
    }

    private fun withEnds(act: (Endpoint, Endpoint, MethodCodec) -> Unit) {
        for (wire in listOf(Wire.CLEARWAY, Wire.PLAIN)) {
            for (codec in listOf(Codecs.STANDARD_METHODS, Codecs.JSON_METHODS)) {
                val (a, b) = transports()
                val options = EndpointOptions().wire(wire).onError { _, _ -> }
                val connecting = listOf(a, b).map { Endpoint.connect(Limited(it), options) }
                val ends = connecting.map { it.get(60, TimeUnit.SECONDS) }
                act(ends[0], ends[1], codec)
                for (end in ends) end.terminate()
            }
        }
    }

    private fun error(outcome: java.util.concurrent.CompletableFuture<*>): Throwable? =
        Outcome.of(outcome).get(60, TimeUnit.SECONDS).error

    private fun code(error: Throwable?): String? = (error as? ChannelException)?.code ?: (error as RemoteException).code

    private fun check(value: Named) {
        assertTrue(value.written in 1..FRAME_BYTES_MAX / NAMED_BYTES + 1, "${value.written} lists")
    }

    @Test
    fun `the arguments of a call, a message and a listen are written up to the limit only`() = withEnds { a, _, codec ->
        val values = List(4) { Named() }
        assertEquals("too-large", code(error(a.methods("m", codec).call<Any?>("it", values[0]))))
        assertEquals("too-large", code(error(a.messages("n", Codecs.STANDARD).send(values[1]))))
        assertEquals("too-large", code(error(a.messages("n", Codecs.STANDARD).post(values[2]))))
        assertEquals("too-large", code(error(a.events("e", codec).listen<Any?>(values[3]).read())))
        values.forEach(::check)
    }

    @Test
    fun `an answer is written up to the limit only, and the caller gets an error`() = withEnds { a, b, codec ->
        val values = List(2) { Named() }
        b.methods("m", codec).handle(MethodTable().on("it") { _, _ -> values[0] })
        b.messages("n", Codecs.STANDARD).handle { _, _ -> Reply.of(values[1]) }
        val called = error(a.methods("m", codec).call<Any?>("it"))
        // On the plain wire, an answer that cannot be sent has no bytes.
        assertEquals(if (a.wire == Wire.PLAIN) "not-implemented" else "too-large", code(called))
        val sent = Outcome.of(a.messages("n", Codecs.STANDARD).send(1)).get(60, TimeUnit.SECONDS)
        if (a.wire == Wire.PLAIN) assertEquals(null, sent.value?.value) else assertEquals("too-large", code(sent.error))
        values.forEach(::check)
    }

    @Test
    fun `an error's details are written up to the limit only, and the error crosses without them`() =
        withEnds { a, b, codec ->
            val values = List(2) { Named() }
            b.methods("m", codec)
                .handle(MethodTable().on("it") { _, _ -> throw RemoteException("BIG", "b", values[0]) })
            b.events("e", codec).serve({ _, sink -> sink.fail(RemoteException("BIG", "b", values[1])) })
            val errors =
                listOf(error(a.methods("m", codec).call<Any?>("it")), error(a.events("e", codec).listen<Any?>().read()))
            for (error in errors) assertEquals(
                Pair("BIG", null),
                (error as RemoteException).run { Pair(code, details) },
            )
            values.forEach(::check)
        }

    @Test
    fun `an event is written up to the limit only, and ends its stream after the events before it`() =
        withEnds { a, b, codec ->
            val values = List(2) { Named() }
            val sent = LinkedBlockingQueue<Boolean>()
            b.events("push", codec)
                .serve({ _, sink -> for (it in listOf(1, values[0], 2)) sent += sink.send(it).get() })
            b.events("pull", codec).serveEach({ listOf(1, values[1], 2) })
            for (channel in listOf("push", "pull")) {
                val stream = a.events(channel, codec).listen<Any?>()
                assertEquals(1, stream.read().get(60, TimeUnit.SECONDS).value)
                assertEquals("too-large", code(error(stream.read())))
            }
            assertEquals(listOf(true, false, false), List(3) { sent.poll(60, TimeUnit.SECONDS) })
            values.forEach(::check)
        }

    private companion object {
        const val FRAME_BYTES_MAX = 200_000
        const val NAMED_BYTES = 16_000
    }
}
