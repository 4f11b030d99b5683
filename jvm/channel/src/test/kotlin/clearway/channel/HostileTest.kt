// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.Codecs
import clearway.channel.codec.MessageCodec
import clearway.channel.codec.MethodCall
import clearway.channel.codec.Tag
import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseCode
import clearway.channel.transport.Log
import clearway.channel.transport.MemoryTransport
import clearway.channel.transport.StreamTransport
import clearway.channel.transport.TransportLimits
import clearway.channel.wire.Head
import clearway.channel.wire.Hello
import clearway.channel.wire.Op
import clearway.channel.wire.Status
import clearway.channel.wire.WIRE_VERSION
import clearway.channel.wire.readError
import clearway.channel.wire.writeFrame
import clearway.channel.wire.writeHello
import java.io.File
import java.nio.channels.Channels
import java.nio.channels.Pipe
import java.util.Random
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

/** Tests of an endpoint whose other end violates the protocol. */
class HostileTest {
    private val hello = writeHello(Hello(WIRE_VERSION, 3, 1 shl 20, 255, 4096))
    private val call = Codecs.STANDARD_METHODS.encodeCall(MethodCall("it", listOf(1, "two")))

    private fun frames(): List<ByteArray> {
        val name = "math".toByteArray()
        return listOf(
            writeFrame(Head(Op.CALL, id = 1, a = 5, b = 7), name = name, body = call),
            writeFrame(Head(Op.POST), name = name, body = call),
            writeFrame(Head(Op.LISTEN, id = 2, a = 16, b = 1000, c = 1), name = "events".toByteArray(), body = call),
            writeFrame(Head(Op.CREDIT, id = 2, a = 0xffff_ffff, b = 0xffff_ffff)),
            writeFrame(Head(Op.REPLY, id = 1), body = byteArrayOf(0, 0)),
            writeFrame(Head(Op.EVENT, id = 1), body = byteArrayOf(0, 0)),
            writeFrame(Head(Op.END, id = 1, a = 1), body = byteArrayOf(12, 1)),
            writeFrame(Head(Op.CANCEL, id = 1, a = 5)),
            writeFrame(Head(Op.STOP, id = 2)),
        )
    }

    @Test
    fun `whatever comes, nothing hangs and nothing is thrown`() {
        // With a fixed seed, only a change of the code can make the test fail.
        val random = Random(20_260_101)
        repeat(300) {
            val (here, there) = MemoryTransport.pair()
            val errors = ArrayList<Throwable>()
            val connecting =
                Endpoint.connect(here, EndpointOptions().clock(FakeClock()).onError { error, _ -> errors += error })
            there.open(Log())
            there.send(hello)
            val endpoint = connecting.get(60, TimeUnit.SECONDS)
            endpoint.methods("math").handle(MethodTable().on("it") { args, _ -> args })
            endpoint.events("events").serveEach({ generateSequence(0) { it + 1 }.asIterable() })
            val calls = List(3) { endpoint.methods("math").call<Any?>("it") }
            val read = endpoint.events("numbers").listen<Int>().read()
            repeat(20) {
                val frame = frames()[random.nextInt(9)].copyOf()
                repeat(random.nextInt(4)) { frame[random.nextInt(frame.size)] = random.nextInt(256).toByte() }
                there.send(if (random.nextInt(8) == 0) frame.copyOf(random.nextInt(frame.size)) else frame)
            }
            there.close(clearway.channel.transport.CloseReason.CLOSED)
            endpoint.closed.get(60, TimeUnit.SECONDS)
            for (each in calls + read) Outcome.of(each).get(60, TimeUnit.SECONDS)
            assertTrue(errors.none { it is NullPointerException || it is IndexOutOfBoundsException }, "$errors")
            assertEquals(0, endpoint.stats().run { this.calls.toLong() + handling + listening + serving })
        }
    }

    @Test
    fun `fields that a post does not use limit no time`() {
        val clock = FakeClock()
        val begun = CompletableFuture<HandlerContext>()
        Bare(EndpointOptions().clock(clock)).use { bare ->
            bare.end.messages("m", Codecs.BINARY).handleAsync { _, context ->
                begun.complete(context)
                CompletableFuture<Reply<ByteArray>>()
            }
            bare.there.send(writeFrame(Head(Op.POST, a = 5, b = 7), name = "m".toByteArray()))
            val context = begun.get(60, TimeUnit.SECONDS)
            clock.pass(7)
            assertEquals(Pair(null, false), Pair(context.deadlineMs, context.isCancelled))
        }
    }

    @Test
    fun `an event without credit ends the transport`() {
        val (here, there) = MemoryTransport.pair()
        val connecting = Endpoint.connect(here)
        val log = Log()
        there.open(log)
        there.send(hello)
        val endpoint = connecting.get(60, TimeUnit.SECONDS)
        val stream = endpoint.events("numbers").listen<Int>(null, ListenOptions().window(1))
        log.count(2) // the hello and the listen
        repeat(2) { there.send(writeFrame(Head(Op.EVENT, id = 1), body = byteArrayOf(0, 0))) }
        assertEquals(CloseCode.PROTOCOL, endpoint.closed.get(60, TimeUnit.SECONDS).code)
        stream.close()
    }
}

/** Tests connects that fail, and the error codes that say why. */
class HelloTest {
    private val clock = FakeClock()
    private val options = EndpointOptions().helloMs(100).clock(clock)

    /** Connects to a peer that sends `frames` and no others. Returns the failure, after `passMs`. */
    private fun failure(log: Log, vararg frames: ByteArray, passMs: Long = 0): ChannelException {
        val (here, there) = MemoryTransport.pair()
        there.open(log)
        for (frame in frames) there.send(frame)
        val connecting = Endpoint.connect(here, options)
        clock.pass(passMs)
        return Outcome.of(connecting).get(60, TimeUnit.SECONDS).error as ChannelException
    }

    @Test
    fun `a connect fails with deadline when no hello arrives within helloMs`() {
        val log = Log()
        val failure = failure(log, passMs = 100)
        assertEquals(ChannelError.DEADLINE to CloseCode.TIMEOUT, failure.error to failure.reason?.code)
        assertEquals(CloseCode.TIMEOUT, log.end().code)
    }

    @TestFactory
    fun `a connect fails with protocol, and the other end is told so`(): List<DynamicTest> {
        fun hello(version: Long = WIRE_VERSION, wires: Int = 1, frameBytesMax: Long = 1L shl 20) =
            writeHello(Hello(version, wires, frameBytesMax, 255, 1))
        val first =
            mapOf(
                "the ends have no version in common" to hello(version = WIRE_VERSION + 1),
                "the ends have no wire in common" to hello(wires = 2),
                "the other end takes no frame" to hello(frameBytesMax = 0),
                "the other end takes only frames smaller than 1024 bytes" to hello(frameBytesMax = 1023),
                "the other end says no hello" to byteArrayOf(1, 2, 3),
            )
        return first.map { (name, frame) ->
            dynamicTest(name) {
                val log = Log()
                val failure = failure(log, frame)
                assertEquals(ChannelError.PROTOCOL to CloseCode.PROTOCOL, failure.error to failure.reason?.code)
                assertEquals(CloseCode.PROTOCOL, log.end().code)
            }
        }
    }

    @Test
    fun `spec_errors lists every code of a channel`() {
        val page = File("../../spec/errors.md").readText().substringBefore("## Native plugins")
        assertEquals(emptyList<String>(), ChannelError.values().map { it.code }.filter { "\n| `$it` |" !in page })
    }
}

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
            val error = readError(reply.body, "m", Int.MAX_VALUE)
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

/** Checks that early messages are charged the memory of their attachments. */
class EarlyBytesTest {
    /** Sends calls to a channel without a handler, one with attachments of each of these sizes, or one listen. */
    private fun assertFirstDropped(op: Int, answer: Int, vararg sizes: List<Int>) =
        Bare(EndpointOptions().earlyBytesMax(EARLY_BYTES_MAX).clock(FakeClock())).use { bare ->
            for ((at, each) in sizes.withIndex()) {
                bare.there.send(frameWithAttachments(Head(op, id = at + 1, a = 1, b = 1), "late", each))
            }
            bare.read()
            assertEquals(listOf(Pair(1, Status.DROPPED)), bare.frames(answer, 1).map { Pair(it.id, it.a.toInt()) })
        }

    @Test
    fun `an early call drops an older one when the bytes of their attachments exceed earlyBytesMax`() =
        assertFirstDropped(Op.CALL, Op.REPLY, listOf(6000), listOf(6000))

    @Test
    fun `an early call is dropped when its many empty attachments take more than earlyBytesMax`() =
        assertFirstDropped(Op.CALL, Op.REPLY, List(100) { 0 })

    @Test
    fun `an early listen is dropped when the bytes of its attachments exceed earlyBytesMax`() =
        assertFirstDropped(Op.LISTEN, Op.END, listOf(12_000))

    private companion object {
        const val EARLY_BYTES_MAX = 10_000
    }
}

/**
 * Makes random calls, cancellations, streams and ends in any order. Checks that every future settles, nothing stays
 * open and no thread of a transport remains.
 */
class ChaosTest {
    private class Run(seed: Long, transports: Pair<ChannelTransport, ChannelTransport>) {
        val random = Random(seed)
        val clock = FakeClock()
        val futures = ConcurrentLinkedQueue<CompletableFuture<*>>()
        val running = AtomicInteger()
        val handlers = Executors.newCachedThreadPool { Thread(it, "chaos").apply { isDaemon = true } }
        val ends: List<Endpoint>

        init {
            val connecting = transports.toList().map { Endpoint.connect(it, options()) }
            ends = connecting.map { it.get(LIMIT, TimeUnit.SECONDS) }
            for (end in ends) serve(end)
        }

        private fun options() =
            EndpointOptions().callsMax(8).replyBytesMax(5000).earlyMs(5).clock(clock).executor(handlers).onError { _, _
                ->
            }

        private fun serve(end: Endpoint) {
            end.methods("m")
                .handle(
                    MethodTable()
                        .on("answer") { args, _ -> args }
                        .on("throw") { _, _ -> throw AssertionError("broken") }
                        .on("large") { _, _ -> ByteArray(1500) }
                        .on("untilCancelled") { _, context ->
                            running.incrementAndGet()
                            val cancelled = CompletableFuture<Any?>()
                            context.onCancel { cancelled.complete(null) }
                            cancelled.whenComplete { _, _ -> running.decrementAndGet() }
                        }
                )
            end.messages("n").handle({ message, _ -> Reply.of(message) })
            end.events("pushed").serve({ _, sink -> repeat(20) { futures += sink.send(ByteArray(100)) } })
            end.events("each").serveEach({ generateSequence(0) { it + 1 }.asIterable() })
        }

        private fun <T> pick(vararg from: T): T = from[random.nextInt(from.size)]

        fun step() {
            val end = pick(*ends.toTypedArray())
            when (random.nextInt(12)) {
                0,
                1,
                2 -> {
                    val method = pick("answer", "throw", "large", "untilCancelled", "missing")
                    val options = CallOptions()
                    if (random.nextBoolean()) options.timeoutMs(1L + random.nextInt(5))
                    if (random.nextBoolean()) options.deadlineMs(1L + random.nextInt(5))
                    futures += end.methods("m").call<Any>(method, random.nextInt(), options)
                }
                3 -> futures += end.messages(pick("n", "nobody")).send("text")
                4 -> futures += end.messages("n").post("text")
                5,
                6 -> futures.toList().takeIf { it.isNotEmpty() }?.let { it[random.nextInt(it.size)].cancel(true) }
                7,
                8 -> {
                    val stream =
                        end.events(pick("pushed", "each", "missing")).listen<Any>(null, ListenOptions().window(2))
                    repeat(random.nextInt(4)) { futures += stream.read() }
                    if (random.nextBoolean()) stream.close()
                }
                9,
                10 -> clock.pass(random.nextInt(4).toLong())
                else -> if (random.nextInt(10) == 0) futures += end.closeAsync(5)
            }
        }

        /** Ends the connection in one of several ways. */
        fun end() {
            when (random.nextInt(3)) {
                0 -> ends[0].terminate()
                1 -> for (end in ends) futures += end.closeAsync(1)
                else -> futures += ends[1].closeAsync(1)
            }
            // Only this loop moves the fake clock now. `close` waits for calls that never end by themselves.
            while (!ends.all { it.closed.isDone }) {
                clock.pass(5)
                Thread.yield()
            }
        }

        fun check(seed: Long) {
            for (future in futures) Outcome.of(future).get(LIMIT, TimeUnit.SECONDS)
            handlers.shutdown()
            assertTrue(handlers.awaitTermination(LIMIT, TimeUnit.SECONDS), "seed=$seed")
            // The thread that passes a request to the executor, or that cancels it, may not have come to that yet.
            val endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT)
            while (open() > 0 && System.nanoTime() < endNanos) Thread.yield()
            assertEquals(0, open(), "seed=$seed")
        }

        private fun open(): Long =
            running.get() + ends.sumOf { it.stats().run { calls + handling + waitingBytes + listening + serving } }
    }

    @Test
    fun `every future settles and nothing stays open, in any order of calls, cancellations and ends`(): Unit =
        orders(75) { MemoryTransport.pair(LIMITS) }

    @Test
    fun `every future settles and no thread remains over pipes, in any order of calls, cancellations and ends`(): Unit =
        orders(25) {
            val (there, back) = Pair(Pipe.open(), Pipe.open())
            Pair(transport(there.source(), back.sink()), transport(back.source(), there.sink()))
        }

    private fun transport(input: Pipe.SourceChannel, output: Pipe.SinkChannel) =
        StreamTransport.of(Channels.newInputStream(input), Channels.newOutputStream(output), LIMITS)

    /**
     * The threads that belong to one transport. Endpoints share all others, which end when they were idle for a while.
     */
    private fun threads(): Set<Thread> = Thread.getAllStackTraces().keys.filter { it.name.matches(OWN_THREAD) }.toSet()

    private fun orders(runsByDefault: Int, transports: () -> Pair<ChannelTransport, ChannelTransport>) {
        val asked = System.getenv("CLEARWAY_FUZZ_SEED")
        val first = if (asked == "random") System.nanoTime() else asked?.toLong() ?: 1
        val runs = System.getenv("CLEARWAY_FUZZ_RUNS")?.toInt() ?: runsByDefault
        println("runs=$runs seed=$first")
        for (seed in first until first + runs) {
            val before = threads()
            val run = Run(seed, transports())
            repeat(60) { run.step() }
            run.end()
            run.check(seed)
            for (left in threads() - before) {
                left.join(LIMIT * 1000)
                assertFalse(left.isAlive, "${left.name} was left: seed=$seed")
            }
        }
    }

    private companion object {
        const val LIMIT = 60L
        val LIMITS = TransportLimits(1 shl 20, 1000)
        val OWN_THREAD = Regex("clearway-channel-(reader|writer|closer)-.*")
    }
}
