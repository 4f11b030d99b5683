// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.Codecs
import clearway.channel.codec.MessageCodec
import clearway.channel.codec.MethodCall
import clearway.channel.codec.Tag
import clearway.channel.transport.CloseCode
import clearway.channel.transport.Log
import clearway.channel.transport.MemoryTransport
import clearway.channel.wire.Frame
import clearway.channel.wire.Head
import clearway.channel.wire.Hello
import clearway.channel.wire.Op
import clearway.channel.wire.Status
import clearway.channel.wire.WIRE_VERSION
import clearway.channel.wire.readError
import clearway.channel.wire.writeFrame
import clearway.channel.wire.writeHello
import java.io.File
import java.util.Random
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

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

    @Test
    fun `an end that takes only frames smaller than 1024 bytes is refused`() {
        for (frameBytesMax in listOf(0L, 1023L)) {
            val (here, there) = MemoryTransport.pair()
            val connecting = Endpoint.connect(here)
            val log = Log()
            there.open(log)
            there.send(writeHello(Hello(WIRE_VERSION, 3, frameBytesMax, 255, 4096)))
            assertEquals(CloseCode.PROTOCOL, log.end().code)
            assertTrue(connecting.isCompletedExceptionally)
        }
    }

    @Test
    fun `an end that says no hello is told so`() {
        val (here, there) = MemoryTransport.pair()
        val connecting = Endpoint.connect(here)
        val log = Log()
        there.open(log)
        there.send(byteArrayOf(1, 2, 3))
        assertEquals(CloseCode.PROTOCOL, log.end().code)
        assertTrue(connecting.isCompletedExceptionally)
    }
}

/** Tests connects that fail, and the error codes that say why. */
class HelloTest {
    private val clock = FakeClock()
    private val log = Log()
    private val options = EndpointOptions().helloMs(100).clock(clock)

    /** Connects to a peer that sends `frames` and no others. Returns the failure, after `passMs`. */
    private fun failure(vararg frames: ByteArray, passMs: Long = 0): ChannelException {
        val (here, there) = MemoryTransport.pair()
        there.open(log)
        for (frame in frames) there.send(frame)
        val connecting = Endpoint.connect(here, options)
        clock.pass(passMs)
        return Outcome.of(connecting).get(60, TimeUnit.SECONDS).error as ChannelException
    }

    @Test
    fun `a connect fails with deadline when no hello arrives within helloMs`() {
        val failure = failure(passMs = 100)
        assertEquals(ChannelError.DEADLINE to CloseCode.TIMEOUT, failure.error to failure.reason?.code)
        assertEquals(CloseCode.TIMEOUT, log.end().code)
    }

    @Test
    fun `a connect fails with protocol when the ends have no version or wire in common`() {
        for (hello in
            listOf(Hello(WIRE_VERSION + 1, 1, 1L shl 20, 255, 1), Hello(WIRE_VERSION, 2, 1L shl 20, 255, 1))) {
            val failure = failure(writeHello(hello))
            assertEquals(ChannelError.PROTOCOL to CloseCode.PROTOCOL, failure.error to failure.reason?.code)
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

/** Checks that early messages are charged the memory of their attachments. */
class EarlyBytesTest {
    private fun bare() = Bare(EndpointOptions().earlyBytesMax(EARLY_BYTES_MAX).clock(FakeClock()))

    private fun idAndStatus(frame: Frame) = Pair(frame.id, frame.a.toInt())

    @Test
    fun `an early call drops an older one when the bytes of their attachments exceed earlyBytesMax`() =
        bare().use { bare ->
            for (id in 1..2) bare.there.send(frameWithAttachments(Head(Op.CALL, id = id), "late", listOf(6000)))
            bare.read()
            assertEquals(listOf(Pair(1, Status.DROPPED)), bare.frames(Op.REPLY, 1).map(::idAndStatus))
        }

    @Test
    fun `an early call is dropped when its many empty attachments take more than earlyBytesMax`() =
        bare().use { bare ->
            bare.there.send(frameWithAttachments(Head(Op.CALL, id = 1), "late", List(100) { 0 }))
            bare.read()
            assertEquals(listOf(Pair(1, Status.DROPPED)), bare.frames(Op.REPLY, 1).map(::idAndStatus))
        }

    @Test
    fun `an early listen is dropped when the bytes of its attachments exceed earlyBytesMax`() =
        bare().use { bare ->
            bare.there.send(frameWithAttachments(Head(Op.LISTEN, id = 1, a = 1, b = 1), "late", listOf(12_000)))
            bare.read()
            assertEquals(listOf(Pair(1, Status.DROPPED)), bare.frames(Op.END, 1).map(::idAndStatus))
        }

    private companion object {
        const val EARLY_BYTES_MAX = 10_000
    }
}
