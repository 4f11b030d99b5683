// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.CodecError
import clearway.channel.codec.CodecException
import clearway.channel.codec.CodecLimits
import clearway.channel.codec.Codecs
import clearway.channel.codec.MessageCodec
import clearway.channel.codec.MethodCodec
import clearway.channel.endpoint.ByteBudget
import clearway.channel.endpoint.SourceQueue
import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.MemoryTransport
import clearway.channel.transport.OBJECT_BYTES
import clearway.channel.transport.StreamTransport
import clearway.channel.transport.TransportLimits
import clearway.channel.wire.HEAD_BYTES
import clearway.channel.wire.Head
import clearway.channel.wire.Op
import clearway.channel.wire.Status
import clearway.channel.wire.readError
import clearway.channel.wire.readFrame
import clearway.channel.wire.writeFrame
import java.io.InputStream
import java.io.OutputStream
import java.nio.ByteBuffer
import java.util.Random
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Checks the limit on the values of a received message. */
class ValuesMaxTest {
    private fun nulls(count: Int): List<Any?> = List(count) { null }

    /** Runs `act` with two endpoints. Only the second has the options. */
    private fun connected(
        options: EndpointOptions,
        change: (ChannelTransport) -> ChannelTransport = ::WithoutPause,
        act: (Endpoint, Endpoint) -> Unit,
    ) {
        val (here, there) = MemoryTransport.pair()
        fun EndpointOptions.quiet() = onError { _, _ -> }
        endpoints(EndpointOptions().quiet(), options.quiet(), Pair(here, change(there)), act)
    }

    private fun codeOf(outcome: Outcome<*>) =
        when (val error = outcome.error) {
            is RemoteException -> error.code
            is CodecException -> error.code
            else -> "$error"
        }

    private fun checkLimit(message: MessageCodec<Any>, method: MethodCodec) =
        connected(EndpointOptions().valuesMax(1000)) { a, b ->
            val ran = ArrayList<String>()
            b.messages("m", message).handle { value, _ ->
                ran += "message"
                Reply.of((value as List<*>).size)
            }
            b.methods("c", method)
                .handle(
                    MethodTable().on("go") { args, _ ->
                        ran += "call"
                        (args as List<*>).size
                    }
                )
            a.methods("back", method).handle(MethodTable().on("go") { args, _ -> nulls(args as Int) })
            fun sent(count: Int) = Outcome.of(a.messages("m", message).send(nulls(count))).get(60, TimeUnit.SECONDS)
            fun called(count: Int) =
                Outcome.of(a.methods("c", method).call<Any?>("go", nulls(count))).get(60, TimeUnit.SECONDS)
            fun asked(count: Int) =
                Outcome.of(b.methods("back", method).call<Any?>("go", count)).get(60, TimeUnit.SECONDS)
            assertEquals("too-large", codeOf(sent(1001)))
            assertEquals("too-large", codeOf(called(1002)))
            assertEquals("too-large", codeOf(asked(1001)))
            assertEquals(emptyList<String>(), ran)
            assertEquals(listOf(1000, 990, 990), listOf(sent(1000), called(990), asked(990)).map { countOf(it.value) })
        }

    private fun countOf(value: Any?): Any? = (value as? List<*>)?.size ?: (value as? Reply<*>)?.value ?: value

    @Test
    fun `an endpoint refuses a message, a call and a reply with more values, and goes on`() {
        checkLimit(Codecs.STANDARD, Codecs.STANDARD_METHODS)
        checkLimit(Codecs.JSON, Codecs.JSON_METHODS)
    }

    @Test
    fun `an endpoint refuses more than 2^20 values by default, but 2^24 from another part of its process`() {
        val most = 1 shl 20
        fun sent(a: Endpoint, b: Endpoint, count: Int): Outcome<Reply<Any>> {
            b.messages("m")
                .handle { value, _ -> Reply.of((value as List<*>).size) }
                .use {
                    return Outcome.of(a.messages("m").send(nulls(count))).get(60, TimeUnit.SECONDS)
                }
        }
        connected(EndpointOptions()) { a, b ->
            assertEquals(most, sent(a, b, most).value?.value)
            assertEquals("too-large", codeOf(sent(a, b, most + 1)))
        }
        connected(EndpointOptions(), { it }) { a, b -> assertEquals(most + 1, sent(a, b, most + 1).value?.value) }
    }

    @Test
    fun `valuesMax must be 1 or more`() {
        for (count in listOf(0, -1)) {
            val error = assertThrows(IllegalArgumentException::class.java) { EndpointOptions().valuesMax(count) }
            assertEquals("valuesMax must be from 1 to ${Int.MAX_VALUE}: valuesMax=$count", error.message)
        }
    }

    /** Counts a value and all values in its lists and maps. */
    private fun countValues(value: Any?): Int =
        when (value) {
            is List<*> -> 1 + value.sumOf(::countValues)
            is Map<*, *> -> 1 + value.entries.sumOf { countValues(it.key) + countValues(it.value) }
            else -> 1
        }

    /** Returns bytes that decoders read far into: type bytes, small sizes, and the smallest values. */
    private fun message(random: Random): ByteArray {
        val items = listOf("0800", "0c00", "0d00", "00", "0c010d00", "0d010000", "050131", "070161")
        val bytes = ArrayList<Byte>()
        if (random.nextBoolean()) {
            val item = items[random.nextInt(items.size)].chunked(2).map { it.toInt(16).toByte() }
            val count = random.nextInt(200)
            bytes += listOf(12.toByte(), count.toByte())
            repeat(count) { bytes += item }
        }
        repeat(random.nextInt(40)) { bytes += random.nextInt(15).toByte() }
        return bytes.toByteArray()
    }

    private fun json(random: Random): ByteArray {
        fun value(depth: Int): String =
            when (random.nextInt(if (depth == 0) 3 else 5)) {
                0 -> "null"
                1 -> "[]"
                2 -> "\"a\""
                3 -> List(random.nextInt(5)) { value(depth - 1) }.joinToString(",", "[", "]")
                else -> List(random.nextInt(5)) { "\"$it\":${value(depth - 1)}" }.joinToString(",", "{", "}")
            }
        return value(4).toByteArray()
    }

    @Test
    fun `a decoded message has at most one value for each byte, and at most its limit of values`() {
        // With a fixed seed, only a change of the code can make the test fail.
        val random = Random(System.getenv("CLEARWAY_FUZZ_SEED")?.toLongOrNull() ?: 20_260_101)
        val runs = System.getenv("CLEARWAY_FUZZ_RUNS")?.toIntOrNull() ?: 500
        repeat(runs) {
            val standard = message(random)
            val json = json(random)
            val limit = 1 + random.nextInt(300)
            val decoders =
                listOf<Pair<ByteArray, (Int) -> Any?>>(
                    standard to { Codecs.STANDARD.decode(ByteBuffer.wrap(standard), it % 2 == 0, null, it) },
                    standard to { Codecs.STANDARD_METHODS.decodeCall(ByteBuffer.wrap(standard), false, null, it).args },
                    json to { Codecs.JSON.decode(ByteBuffer.wrap(json), it) },
                )
            for ((bytes, decode) in decoders) {
                val all = attempt { decode(Int.MAX_VALUE) } ?: continue
                assertTrue(countValues(all[0]) <= bytes.size + 1, "more values than bytes: ${bytes.toList()}")
                val some = attempt { decode(limit) } ?: continue
                assertTrue(countValues(some[0]) - 1 <= limit, "more than $limit values: ${bytes.toList()}")
            }
            val error = attempt { readError(ByteBuffer.wrap(standard), "c", Int.MAX_VALUE) }
            if (error != null) assertTrue(countValues(error[0]!!.details) <= standard.size)
        }
    }

    @Test
    fun `an error's body is refused when it has more than 2^20 values`() {
        val body = ByteBuffer.allocate(7 + (1 shl 20)).order(java.nio.ByteOrder.LITTLE_ENDIAN)
        body.put(12).put(-1).putInt((1 shl 20) + 1).rewind()
        val refused = assertThrows(CodecException::class.java) { readError(body, "c", Int.MAX_VALUE) }
        assertEquals(Pair(CodecError.TOO_LARGE, 1), Pair(refused.error, refused.offset))
    }

    @Test
    fun `a message is refused at the count that exceeds its limit, before its values are created`() {
        val message = byteArrayOf(12, 2, 12, 100) + ByteArray(101)
        val refused = assertThrows(CodecException::class.java) { decode(message, 101) }
        assertEquals(Pair(CodecError.TOO_LARGE, 3), Pair(refused.error, refused.offset))
        assertEquals(103, countValues(decode(message, 102)))
        val few = Codecs.STANDARD.with(CodecLimits(itemsMax = 3))
        assertThrows(CodecException::class.java) { few.decode(ByteBuffer.wrap(message), false, null, 1000) }
    }

    @Test
    fun `a message that is forwarded as bytes is refused at the value that exceeds its limit`() {
        fun inlined(count: Int) =
            Codecs.STANDARD.inlined(ByteBuffer.wrap(ByteArray(count)), listOf(ByteBuffer.allocate(8)), 1000, 2000)
        assertEquals(1000, inlined(1000).size)
        val refused = assertThrows(CodecException::class.java) { inlined(1001) }
        assertEquals(Pair(CodecError.TOO_LARGE, 1000), Pair(refused.error, refused.offset))
    }

    private fun decode(message: ByteArray, valuesMax: Int) =
        Codecs.STANDARD.decode(ByteBuffer.wrap(message), false, null, valuesMax)

    /** Returns the result in a list, or null if the codec refused the message. */
    private fun <T> attempt(run: () -> T): List<T>? =
        try {
            listOf(run())
        } catch (_: CodecException) {
            null
        }
}

/** Checks that each queue charges the objects of the smallest messages, and therefore keeps few of them. */
class SmallestMessagesTest {
    /** The smallest frame: 24 bytes. Its channel has no name, and its message no bytes. */
    private fun smallest(op: Int, id: Int) = writeFrame(Head(op, id = id, a = 1, b = 1))

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
            assertEquals(5, bare.statuses(calls).count { it == Status.BUSY })
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
    fun `small events are dropped until a large one has room`() {
        val budget = ByteBudget(10 * OBJECT_BYTES)
        val queue = SourceQueue(0xffff, WhenFull.DROP_OLDEST, budget)
        val large = 5 * OBJECT_BYTES.toInt()
        for (size in List(10) { 0 } + List(20) { large }) queue.push(ByteArray(size))
        assertTrue(budget.bytes <= 10 * OBJECT_BYTES + large + OBJECT_BYTES)
    }

    @Test
    fun `a source that drops events goes on dropping them for a listener that asks for another policy`() {
        for (policy in listOf(WhenFull.WAIT, WhenFull.FAIL)) {
            val (here, there) = MemoryTransport.pair()
            val ends = listOf(here, there).map { Endpoint.connect(it) }.map { it.get(60, TimeUnit.SECONDS) }
            val sent = CompletableFuture<List<CompletableFuture<Boolean>>>()
            val dropping = ServeOptions().capacity(1).whenFull(WhenFull.DROP_NEWEST)
            ends[0].events("e").serve({ _, sink -> sent.complete(List(9) { sink.send(null) }) }, dropping)
            ends[1].events("e").listen<Any?>(null, ListenOptions().window(1).whenFull(policy))
            val taken = sent.get(60, TimeUnit.SECONDS).map { it.get(60, TimeUnit.SECONDS) }
            assertEquals(listOf(true, true) + List(7) { false }, taken)
            for (end in ends) end.terminate()
        }
    }

    @Test
    fun `events that wait for room in the queue are charged as those in the queue`() {
        val options = EndpointOptions().replyBytesMax(KEPT_BYTES_MAX).executor { it.run() }
        Bare(options).use { bare ->
            val sent = CompletableFuture<List<CompletableFuture<Boolean>>>()
            bare.end
                .events("e")
                .serve({ _, sink -> sent.complete(List(100) { sink.send(null) }) }, ServeOptions().capacity(3))
            bare.listen(1, items = 0, bytes = 0, capacity = 0)
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
        val writing = CountDownLatch(1)
        val output =
            object : OutputStream() {
                override fun write(byte: Int) {
                    writing.countDown()
                    blocked.await()
                }
            }
        val stream = StreamTransport.of(Blocked(blocked), output, limits)
        stream.send(ByteArray(0))
        // The writer takes no further frame now, and what it writes does not count.
        writing.await()
        for (each in listOf(MemoryTransport.pair(limits).first, stream)) assertEquals(
            KEPT_MAX - 1,
            (1..100).count { each.send(ByteArray(0)) },
        )
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
