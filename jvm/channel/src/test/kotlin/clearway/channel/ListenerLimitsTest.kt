// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.Codecs
import clearway.channel.transport.MemoryTransport
import clearway.channel.wire.Head
import clearway.channel.wire.Op
import clearway.channel.wire.writeFrame
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ExecutionException
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Test

/** Checks that the events of a peer take no more memory at the listener than its limits allow. */
class ListenerLimitsTest {
    private fun event(bytes: Int, seed: Int): ByteArray =
        byteArrayOf(0) + Codecs.STANDARD.encode(ByteArray(bytes) { seed.toByte() })

    @Test
    fun `credit that is granted while the peer does not read waits in one frame`() =
        Bare().use { bare ->
            val stream = bare.end.events("e").listen<Any?>(null, ListenOptions().window(2))
            val log = bare.end.messages("log", Codecs.BINARY)
            log.post(ByteArray(2000)) // It fills the window of the transport.
            log.post(ByteArray(1)) // It is sent after the peer has read, and after the credit.
            val event = event(1, 1)
            repeat(10) {
                bare.there.send(writeFrame(Head(Op.EVENT, id = 1), body = event))
                stream.read().get(60, TimeUnit.SECONDS)
            }
            bare.read()
            bare.frames(Op.POST, 2)
            val credit = bare.frames(Op.CREDIT, 1).map { Pair(it.a, it.b) }
            assertEquals(listOf(Pair(10L, 10L * event.size)), credit)
        }

    /** Lets a peer on the plain wire send events of these sizes. Returns the stream when all have arrived. */
    private fun plainEvents(options: ListenOptions, vararg sizes: Int, check: (EventStream<ByteArray>) -> Unit) {
        val (here, there) = MemoryTransport.pair()
        val connecting = Endpoint.connect(here, EndpointOptions().withoutHello().replyBytesMax(10_000))
        val end = connecting.get(60, TimeUnit.SECONDS)
        try {
            val arrived = CompletableFuture<Unit>()
            end.messages("fence", Codecs.BINARY).handle { _, _ ->
                arrived.complete(Unit)
                Reply.empty()
            }
            val stream = end.events("e").listen<ByteArray>(null, options)
            for ((seed, size) in sizes.withIndex()) there.send(
                writeFrame(Head(Op.MESSAGE), name = "e".toByteArray(), body = event(size, seed))
            )
            there.send(writeFrame(Head(Op.MESSAGE), name = "fence".toByteArray(), body = ByteArray(1)))
            arrived.get(60, TimeUnit.SECONDS)
            check(stream)
        } finally {
            end.terminate()
        }
    }

    private fun read(stream: EventStream<ByteArray>) = stream.read().get(60, TimeUnit.SECONDS).value

    @Test
    fun `a stream on the plain wire ends with queue-full when its waiting events exceed replyBytesMax`() =
        plainEvents(ListenOptions(), 4000, 4000, 4000) { stream ->
            val failed = assertThrows(ExecutionException::class.java) { read(stream) }
            assertEquals(ChannelError.QUEUE_FULL, (failed.cause as ChannelException).error)
        }

    @Test
    fun `a stream on the plain wire drops its oldest events when the waiting ones exceed replyBytesMax`() =
        plainEvents(ListenOptions().whenFull(WhenFull.DROP_OLDEST), 4000, 4000, 4000, 4000) { stream ->
            assertEquals(listOf<Byte?>(2, 3), List(2) { read(stream)?.get(0) })
            assertEquals(2, stream.dropped)
        }

    @Test
    fun `a stream on the plain wire keeps one event that is larger than replyBytesMax`() =
        plainEvents(ListenOptions().whenFull(WhenFull.DROP_NEWEST), 20_000, 1) { stream ->
            assertEquals(20_000, read(stream)?.size)
        }
}
