// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.Codecs
import clearway.channel.codec.MethodCall
import clearway.channel.endpoint.ByteBudget
import clearway.channel.endpoint.SourceQueue
import clearway.channel.transport.MemoryTransport
import clearway.channel.transport.OBJECT_BYTES
import clearway.channel.transport.StreamTransport
import clearway.channel.transport.TransportLimits
import clearway.channel.wire.HEAD_BYTES
import clearway.channel.wire.Head
import clearway.channel.wire.Op
import clearway.channel.wire.Status
import clearway.channel.wire.readFrame
import clearway.channel.wire.writeFrame
import java.io.InputStream
import java.io.OutputStream
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Checks that each queue charges the objects of the smallest messages, and therefore keeps few of them. */
class SmallestMessagesTest {
    private fun until(met: () -> Boolean) {
        while (!met()) if (Thread.interrupted()) throw InterruptedException() else Thread.onSpinWait()
    }

    /** The smallest frame: 24 bytes. Its channel has no name, and its message no bytes. */
    private fun smallest(op: Int, id: Int) = writeFrame(Head(op, id = id, a = 1, b = 1))

    private fun statuses(bare: Bare, op: Int, count: Int) = bare.frames(op, count).map { it.a.toInt() }

    @Test
    fun `early calls without bytes are charged for their objects`() {
        val options = EndpointOptions().early(1024).earlyBytesMax(KEPT_BYTES_MAX).clock(FakeClock())
        Bare(options).use { bare ->
            for (id in 1..KEPT_MAX + 5) bare.there.send(smallest(Op.CALL, id))
            bare.read()
            val dropped = bare.frames(Op.REPLY, 5)
            assertEquals(List(5) { Pair(it + 1, Status.DROPPED) }, dropped.map { Pair(it.id, it.a.toInt()) })
        }
    }

    @Test
    fun `an early call is charged for the objects of its attachments`() {
        val options = EndpointOptions().earlyBytesMax(KEPT_BYTES_MAX).clock(FakeClock())
        Bare(options).use { bare ->
            bare.there.send(frameWithAttachments(Head(Op.CALL, id = 1), "", List(KEPT_MAX - 1) { 0 }))
            bare.there.send(frameWithAttachments(Head(Op.CALL, id = 2), "", List(KEPT_MAX) { 0 }))
            bare.read()
            assertEquals(listOf(2), bare.frames(Op.REPLY, 1).map { it.id })
        }
    }

    @Test
    fun `answers and waiting calls without bytes are charged for their objects`() {
        val options = EndpointOptions().replyBytesMax(KEPT_BYTES_MAX).clock(FakeClock()).executor { it.run() }
        Bare(options, change = { WithoutPause(it) }).use { bare ->
            bare.end.messages("", Codecs.BINARY).handle { _, _ -> Reply.empty() }
            // The window of the transport takes the hello and the first answers, 8 of them.
            val sent = (1000 - (HEAD_BYTES + 12 + OBJECT_BYTES.toInt())) / (HEAD_BYTES + OBJECT_BYTES.toInt()) + 1
            val calls = sent + KEPT_MAX + KEPT_MAX + 5
            for (id in 1..calls) bare.there.send(smallest(Op.CALL, id))
            // As many answers wait as are charged 128 bytes each, and then as many calls. The others are refused.
            until { bare.end.stats().run { handling == calls - sent } }
            assertEquals(KEPT_BYTES_MAX + 5 * OBJECT_BYTES, bare.end.stats().waitingBytes)
            bare.read()
            assertEquals(5, statuses(bare, Op.REPLY, calls).count { it == Status.BUSY })
        }
    }

    @Test
    fun `events without bytes that wait for credit are charged for their objects`() {
        val budget = ByteBudget(KEPT_BYTES_MAX.toLong())
        val queues = List(2) { SourceQueue(0xffff, WhenFull.WAIT, budget) }
        val taken = queues.map { queue -> (1..100).count { queue.push(ByteArray(0)) == SourceQueue.Pushed.TAKEN } }
        assertEquals(listOf(KEPT_MAX, 0), taken)
        queues[0].clear()
        assertEquals(0, budget.bytes)
    }

    @Test
    fun `events that wait for room in the queue are charged as those in the queue`() {
        val options = EndpointOptions().replyBytesMax(KEPT_BYTES_MAX).executor { it.run() }
        Bare(options).use { bare ->
            val sent = CompletableFuture<List<CompletableFuture<Boolean>>>()
            bare.end
                .events("e")
                .serve({ _, sink -> sent.complete(List(100) { sink.send(null) }) }, ServeOptions().capacity(3))
            val call = Codecs.STANDARD_METHODS.encodeCall(MethodCall("listen", null))
            bare.there.send(writeFrame(Head(Op.LISTEN, id = 1), name = "e".toByteArray(), body = call))
            val futures = sent.get(60, TimeUnit.SECONDS)
            // An event of null has 2 bytes. The three in the queue are among the charged ones.
            val kept = KEPT_BYTES_MAX / (OBJECT_BYTES.toInt() + 2) + 1
            assertEquals(3, futures.count { it.isDone && !it.isCompletedExceptionally })
            assertEquals(100 - kept, futures.count { it.isCompletedExceptionally })
            bare.there.send(writeFrame(Head(Op.CREDIT, id = 1, a = 1000, b = 1000)))
            bare.read()
            assertEquals(kept, bare.frames(Op.EVENT, kept).size)
            until { bare.end.stats().waitingBytes == 0L }
        }
    }

    @Test
    fun `events of two bytes that wait at the reader on the plain wire are charged for their objects`() {
        val (here, there) = MemoryTransport.pair()
        val options = EndpointOptions().withoutHello().replyBytesMax(KEPT_BYTES_MAX)
        val end = Endpoint.connect(here, options).get(60, TimeUnit.SECONDS)
        val arrived = CountDownLatch(1)
        end.messages("fence", Codecs.BINARY).handle { _, _ ->
            arrived.countDown()
            Reply.empty()
        }
        val stream = end.events("").listen<Any?>(null, ListenOptions().whenFull(WhenFull.DROP_NEWEST))
        val kept = KEPT_BYTES_MAX / (OBJECT_BYTES.toInt() + 2)
        repeat(100) { there.send(writeFrame(Head(Op.MESSAGE), body = ByteArray(2))) }
        there.send(writeFrame(Head(Op.MESSAGE), name = "fence".toByteArray(), body = ByteArray(1)))
        arrived.await()
        there.send(writeFrame(Head(Op.MESSAGE)))
        assertEquals(kept, stream.toList().size)
        assertEquals(100L - kept, stream.dropped)
        end.terminate()
    }

    @Test
    fun `frames without bytes fill the window of a transport`() {
        val limits = TransportLimits(1 shl 20, KEPT_BYTES_MAX)
        val blocked = CountDownLatch(1)
        val output =
            object : OutputStream() {
                override fun write(byte: Int) = blocked.await()
            }
        val transports =
            listOf(MemoryTransport.pair(limits).first, StreamTransport.of(Blocked(blocked), output, limits))
        // The writer of a stream has one frame in its hands, which counts until it is written.
        for (each in transports) assertEquals(KEPT_MAX - 1, (1..100).count { each.send(ByteArray(0)) })
        blocked.countDown()
    }

    private class Blocked(private val until: CountDownLatch) : InputStream() {
        override fun read(): Int {
            until.await()
            return -1
        }
    }

    @Test
    fun `a frame with many empty attachments makes no object for each of them before they are asked for`() {
        val frame = readFrame(frameWithAttachments(Head(Op.EVENT, id = 1), "", List(0xffff) { it % 2 }))!!
        assertEquals(0xffff, frame.attachments.size)
        assertEquals(listOf(0, 1, 0), frame.attachments.takeLast(3).map { it.remaining() })
        assertEquals(0, frame.attachments.first().remaining())
    }

    private companion object {
        /** How many of the smallest messages a queue keeps. */
        const val KEPT_MAX = 10
        const val KEPT_BYTES_MAX = KEPT_MAX * OBJECT_BYTES.toInt()
    }
}
