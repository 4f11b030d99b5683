// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.Codecs
import clearway.channel.codec.MethodCall
import clearway.channel.transport.CloseCode
import clearway.channel.transport.Log
import clearway.channel.transport.MemoryTransport
import clearway.channel.wire.Head
import clearway.channel.wire.Hello
import clearway.channel.wire.Op
import clearway.channel.wire.WIRE_VERSION
import clearway.channel.wire.writeFrame
import clearway.channel.wire.writeHello
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
