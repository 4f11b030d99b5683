// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.Codecs
import clearway.channel.codec.MethodCall
import clearway.channel.transport.ChannelSink
import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseCode
import clearway.channel.transport.MemoryTransport
import clearway.channel.transport.OBJECT_BYTES
import clearway.channel.transport.TransportLimits
import clearway.channel.wire.Head
import clearway.channel.wire.Op
import clearway.channel.wire.Status
import clearway.channel.wire.writeFrame
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executor
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Checks that answers and events that a peer does not read are charged to that peer. */
class ReplyBytesTest {
    private val clock = FakeClock()
    private val ran = AtomicInteger()
    private val here = Executor { it.run() }
    private val answer = ByteArray(ANSWER_BYTES)

    private fun options() =
        EndpointOptions().replyBytesMax(REPLY_BYTES_MAX).clock(clock).executor(here).onError { _, _ -> }

    /** Connects a peer that makes calls and reads nothing. */
    private fun flood(
        options: EndpointOptions,
        calls: Int = 1000,
        change: (ChannelTransport) -> ChannelTransport = { it },
    ): Bare {
        val bare = Bare(options, change = change)
        bare.end
            .messages("m", Codecs.BINARY)
            .handle({ _, _ ->
                ran.incrementAndGet()
                Reply.of(answer)
            })
        for (id in 1..calls) bare.call(id)
        return bare
    }

    /**
     * Waits until the waiting answers have reached the limit. The endpoint takes no more requests before the peer
     * reads.
     */
    private fun settle(bare: Bare) {
        until { bare.end.stats().waitingBytes >= REPLY_BYTES_MAX }
    }

    @Test
    fun `a peer that never reads makes at most replyBytesMax and one answer wait`() =
        flood(options()).use { bare ->
            settle(bare)
            val waiting = bare.end.stats().waitingBytes
            assertTrue(waiting < REPLY_BYTES_MAX + ANSWER_BYTES + OBJECT_BYTES + 10, "$waiting bytes wait")
            // The handlers that ran are those whose answers wait, and the one whose answer filled the window.
            assertEquals(waiting / (ANSWER_BYTES + OBJECT_BYTES) + 1, ran.toLong())
        }

    @Test
    fun `a peer that reads after all is answered in order and in full`() =
        flood(options()).use { bare ->
            settle(bare)
            bare.read()
            val replies = bare.frames(Op.REPLY, 1000)
            assertEquals((1..1000).toList(), replies.map { it.id })
            assertTrue(replies.all { it.a.toInt() == Status.DONE })
            assertEquals(0, bare.end.stats().waitingBytes)
        }

    @Test
    fun `a peer that has read nothing for stallMs is disconnected with the reason`() =
        flood(options().stallMs(500)).use { bare ->
            settle(bare)
            clock.pass(499)
            assertTrue(bare.end.stats().waitingBytes > 0)
            clock.pass(1)
            val reason = bare.end.closed.get(60, TimeUnit.SECONDS)
            assertEquals(CloseCode.TIMEOUT, reason.code)
            assertTrue(reason.message.startsWith("the other end has read no answer for 500 ms"), reason.message)
            assertEquals(0, bare.end.stats().run { handling + waitingBytes })
        }

    /** Connects a peer that reads nothing of an answer of 2.5 MiB, behind which another one waits. */
    private fun reading(stallMs: Long): Bare {
        val bare = Bare(options().stallMs(stallMs), 4L shl 20, TransportLimits(4 shl 20, 1000))
        bare.end.messages("m", Codecs.BINARY).handle({ _, _ -> Reply.of(ByteArray(5 shl 19)) })
        for (id in 1..2) bare.call(id)
        settle(bare)
        return bare
    }

    @Test
    fun `a peer has stallMs for each MiB of the answer that it is reading`() =
        reading(500).use { bare ->
            clock.pass(1499)
            assertTrue(bare.end.stats().waitingBytes > 0)
            clock.pass(1)
            val reason = bare.end.closed.get(60, TimeUnit.SECONDS)
            assertTrue(reason.message.startsWith("the other end has read no answer for 1500 ms"), reason.message)
        }

    @Test
    fun `a peer that reads a large answer is not disconnected before the longest stallMs is over`() =
        reading(Long.MAX_VALUE).use { bare ->
            clock.pass(Long.MAX_VALUE / 2)
            assertTrue(!bare.end.closed.isDone)
        }

    @Test
    fun `a peer that reads is not disconnected`() =
        flood(options().stallMs(500)).use { bare ->
            settle(bare)
            bare.read()
            bare.statuses(1000)
            clock.pass(10_000)
            assertTrue(!bare.end.closed.isDone)
        }

    @Test
    fun `a peer is refused more than callsMax calls whose answers wait when its transport cannot pause`() =
        flood(options().callsMax(10)) { WithoutPause(it) }
            .use { bare ->
                bare.read()
                val done = bare.statuses(1000).count { it == Status.DONE }
                assertEquals(done, ran.get())
                assertEquals(0, bare.end.stats().run { handling + waitingBytes })
            }

    @Test
    fun `a peer that goes on calling is disconnected at once when its transport cannot pause`() =
        flood(options().callsMax(10)) { WithoutPause(it) }
            .use { bare ->
                for (id in 2000..12_000) bare.call(id)
                val reason = bare.end.closed.get(60, TimeUnit.SECONDS)
                assertEquals(CloseCode.TIMEOUT, reason.code)
                assertTrue(reason.message.startsWith("the other end reads no answers"), reason.message)
            }

    @Test
    fun `a full endpoint refuses requests whose attachments exceed replyBytesMax when its transport cannot pause`() =
        flood(options(), calls = 25) { WithoutPause(it) }
            .use { bare ->
                settle(bare)
                for (id in 2001..2010) bare.there.send(frameWithAttachments(Head(Op.CALL, id = id), "m", listOf(5000)))
                // The first answer has left. All other requests wait for the peer, also those that were refused.
                until { bare.end.stats().handling == 34 }
                bare.read()
                assertEquals(6, bare.statuses(35).count { it == Status.BUSY })
            }

    @Test
    fun `a peer that asks for streams in a loop and never reads is charged for their ends`() =
        Bare(options().stallMs(500)).use { bare ->
            bare.end.methods("m").handle(MethodTable())
            for (id in 1..12_000) bare.listen(id, "m")
            settle(bare)
            val waiting = bare.end.stats().waitingBytes
            assertTrue(waiting < REPLY_BYTES_MAX + OBJECT_BYTES, "$waiting bytes wait")
            clock.pass(500)
            assertEquals(CloseCode.TIMEOUT, bare.end.closed.get(60, TimeUnit.SECONDS).code)
        }

    @Test
    fun `a peer whose streams are refused is disconnected at once when its transport cannot pause`() =
        Bare(options().callsMax(10).replyBytesMax(1 shl 30), change = { WithoutPause(it) }).use { bare ->
            for (id in 1..12_000) bare.there.send(writeFrame(Head(Op.LISTEN, id = id), name = "m".toByteArray()))
            assertEquals(CloseCode.TIMEOUT, bare.end.closed.get(60, TimeUnit.SECONDS).code)
            assertEquals(0, bare.end.stats().run { serving + waitingBytes })
        }

    @Test
    fun `a stream is served and not the one that had its number before and waited for the handler`() =
        Bare(options()).use { bare ->
            bare.end.messages("m").handle({ _, _ -> Reply.of(ran.incrementAndGet()) })
            bare.listen(1, args = "first")
            bare.stop(1)
            bare.listen(1, args = "second")
            bare.call(3, body = Codecs.STANDARD.encode(null))
            until { ran.get() > 0 }
            val served = CompletableFuture<Any?>()
            bare.end.events("e").serve({ args, _ -> served.complete(args) })
            assertEquals("second", served.get(60, TimeUnit.SECONDS))
        }

    @Test
    fun `pushed events that wait are bounded in bytes whatever capacity the peer asks for`() =
        Bare(options()).use { bare ->
            val events = bare.end.events("e")
            events.serve(
                { _, sink ->
                    repeat(1000) { sink.send(answer) }
                    sink.end()
                },
                ServeOptions().whenFull(WhenFull.DROP_NEWEST),
            )
            bare.listen(1, bytes = 1, capacity = Int.MAX_VALUE)
            settle(bare)
            val waiting = bare.end.stats().waitingBytes
            assertTrue(waiting < REPLY_BYTES_MAX + ANSWER_BYTES + OBJECT_BYTES + 10, "$waiting bytes wait")
        }

    @Test
    fun `two ends that both wait for many large answers both get them`() {
        val transports = MemoryTransport.pair(TransportLimits(1 shl 20, 2000))
        fun options() = EndpointOptions().replyBytesMax(50_000)
        endpoints(options(), options(), transports) { a, b ->
            val ends = listOf(a, b)
            for (end in ends) end.methods("m").handle(MethodTable().on("large") { size, _ -> ByteArray(size as Int) })
            val calls = ends.flatMap { end -> List(300) { end.methods("m").call<Any>("large", 1500) } }
            for (each in calls) each.get(60, TimeUnit.SECONDS)
            // A call is answered before it stops counting against `callsMax`.
            for (end in ends) until { end.stats().run { handling + waitingBytes } == 0L }
        }
    }

    /** Counts the pauses of a transport. */
    private class Pauses(private val under: ChannelTransport) : ChannelTransport by under {
        val count = AtomicInteger()

        override fun pause() {
            count.incrementAndGet()
            under.pause()
        }
    }

    /** Checks that a full endpoint that has given up a call pauses only after the peer has answered the call `id`. */
    private fun pausesAfterReply(id: Int, callsAfter: Int) {
        lateinit var pauses: Pauses
        Bare(options(), change = { transport -> Pauses(transport).also { pauses = it } }).use { bare ->
            val messages = bare.end.messages("m", Codecs.BINARY)
            messages.handle({ _, _ -> Reply.of(answer) })
            messages.send(ByteArray(1)).cancel(true)
            repeat(callsAfter) { messages.send(ByteArray(1)) }
            for (id in 1..1000) bare.call(id)
            settle(bare)
            assertEquals(0, pauses.count.get())
            bare.there.send(writeFrame(Head(Op.REPLY, id = id)))
            until { pauses.count.get() > 0 }
        }
    }

    @Test
    fun `a full endpoint whose call was given up reads until the late reply has arrived`() =
        pausesAfterReply(id = 1, callsAfter = 0)

    @Test
    fun `a full endpoint whose call was given up reads until a later call is answered`() =
        pausesAfterReply(id = 2, callsAfter = 1)

    @Test
    fun `two full ends whose calls were given up read each other's late replies`() {
        val gates = List(2) { Gate() }
        val answers = List(2) { LinkedBlockingQueue<CompletableFuture<Any?>>() }
        val (here, there) = MemoryTransport.pair(TransportLimits(1 shl 20, 2000))
        fun options() = EndpointOptions().replyBytesMax(5000).clock(clock)
        endpoints(options(), options(), Pair(gates[0].before(here), gates[1].before(there))) { a, b ->
            val ends = listOf(a, b)
            for ((end, promised) in ends.zip(answers)) end.methods("m")
                .handle(MethodTable().on("large") { _, _ -> CompletableFuture<Any?>().also(promised::add) })
            val calls = ends.flatMap { end -> List(30) { end.methods("m").call<Any>("large") } }
            for (each in answers) until { each.size == 30 }
            for (each in gates) each.close()
            for (each in answers.flatten()) each.complete(ByteArray(1500))
            for (end in ends) until { end.stats().waitingBytes >= 5000 }
            for (each in calls) each.cancel(true)
            for (each in gates) each.open()
            for (end in ends) until { end.stats().run { handling + waitingBytes } == 0L }
        }
    }

    @Test
    fun `an endpoint that closes sends the answer of its last handler, although the transport has no room`() {
        val promised = LinkedBlockingQueue<CompletableFuture<Any?>>()
        val bare = Bare(options())
        bare.end
            .methods("m")
            .handle(MethodTable().on("large") { _, _ -> CompletableFuture<Any?>().also(promised::add) })
        val body = Codecs.STANDARD_METHODS.encodeCall(MethodCall("large", null))
        for (id in 1..2) bare.call(id, body = body)
        until { promised.size == 2 }
        val closed = bare.end.closeAsync()
        for (each in promised) each.complete(answer)
        bare.read()
        assertEquals(List(2) { Status.DONE }, bare.statuses(2))
        closed.get(60, TimeUnit.SECONDS)
    }

    /** Holds back the frames of a transport while it is closed. */
    private class Gate {
        @Volatile private var closed = CountDownLatch(0)

        fun close() {
            closed = CountDownLatch(1)
        }

        fun open(): Unit = closed.countDown()

        fun before(transport: ChannelTransport): ChannelTransport =
            object : ChannelTransport by transport {
                override fun open(sink: ChannelSink): Unit =
                    transport.open(
                        object : ChannelSink by sink {
                            override fun frame(frame: ByteArray) {
                                closed.await()
                                sink.frame(frame)
                            }
                        }
                    )
            }
    }

    private companion object {
        const val ANSWER_BYTES = 1000
        const val REPLY_BYTES_MAX = 20_000
    }
}
