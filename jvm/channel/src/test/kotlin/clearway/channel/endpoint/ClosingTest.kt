// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.endpoint

import clearway.channel.Bare
import clearway.channel.Endpoint
import clearway.channel.EndpointOptions
import clearway.channel.EventSink
import clearway.channel.FakeClock
import clearway.channel.MethodTable
import clearway.channel.Reply
import clearway.channel.ServeOptions
import clearway.channel.codec.Codecs
import clearway.channel.codec.MethodCall
import clearway.channel.codec.MethodReply
import clearway.channel.endpoints
import clearway.channel.transport.CloseCode
import clearway.channel.transport.Log
import clearway.channel.transport.MemoryTransport
import clearway.channel.transport.TransportLimits
import clearway.channel.until
import clearway.channel.wire.Head
import clearway.channel.wire.Op
import clearway.channel.wire.Status
import clearway.channel.wire.readFrame
import clearway.channel.wire.writeFrame
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException
import java.util.concurrent.atomic.AtomicInteger
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test

/** Tests what is under way when an endpoint closes, or a caller gives up. */
class ClosingTest {
    private val codec = Codecs.STANDARD_METHODS

    /** Closes an endpoint that serves a stream on the plain wire. Returns the bodies of the stream's messages. */
    private fun closed(source: (EventSink) -> Unit): List<ByteArray> {
        val (here, there) = MemoryTransport.pair(TransportLimits(1 shl 20, 1000))
        val options = EndpointOptions().withoutHello().clock(FakeClock())
        val end = Endpoint.connect(here, options).get(60, TimeUnit.SECONDS)
        val served = CompletableFuture<Unit>()
        end.events("e").serve({ _, sink -> served.complete(source(sink)) }, ServeOptions().capacity(100))
        val listen = codec.encodeCall(MethodCall("listen", null))
        there.send(writeFrame(Head(Op.MESSAGE, id = 1), "e".toByteArray(), listen))
        served.get(60, TimeUnit.SECONDS)
        val closing = end.closeAsync()
        val log = Log()
        there.open(log)
        closing.get(60, TimeUnit.SECONDS)
        log.end()
        val frames = log.frames.map { readFrame(it)!! }
        return frames.filter { it.op == Op.MESSAGE }.map { bytesOf(it.body) }
    }

    @Test
    fun `a stream on the plain wire whose events wait at close ends with an error, and any other without one`() {
        val cut = closed { sink -> repeat(10) { sink.send(ByteArray(500)) } }
        assertEquals("cancelled", (codec.decodeReply(cut[cut.size - 2]) as MethodReply.Failure).code)
        assertEquals(0, cut.last().size)
        val whole = closed { sink -> sink.send(1) }
        assertEquals(listOf(true, false), whole.map { it.isNotEmpty() })
    }

    @Test
    fun `posts that wait for room are sent before close closes the transport`() {
        Bare(EndpointOptions().clock(FakeClock())).use { bare ->
            val log = bare.end.messages("log", Codecs.BINARY)
            log.post(ByteArray(2000)) // It fills the window of the transport.
            val waiting = List(3) { log.post(ByteArray(1)) }
            val closed = bare.end.closeAsync()
            bare.read()
            for (post in waiting) assertNull(post.get(60, TimeUnit.SECONDS))
            assertEquals(CloseCode.CLOSED, closed.get(60, TimeUnit.SECONDS).code)
            assertEquals(4, bare.frames(Op.POST, 4).size)
        }
    }

    @Test
    fun `a closing end refuses the calls and streams that arrive, and waits for the call that runs`() {
        Bare(EndpointOptions().clock(FakeClock())).use { bare ->
            val begun = CountDownLatch(1)
            val end = CountDownLatch(1)
            val ran = AtomicInteger()
            bare.end.messages("m", Codecs.BINARY).handle { _, _ ->
                ran.incrementAndGet()
                begun.countDown()
                end.await()
                Reply.empty()
            }
            bare.end.events("e").serve({ _, _ -> ran.incrementAndGet() })
            bare.read()
            bare.call(1)
            begun.await()
            val closed = bare.end.closeAsync()
            bare.call(2)
            bare.listen(3)
            assertEquals(listOf(Status.NO_HANDLER), bare.statuses(1))
            assertEquals(listOf(Status.NO_HANDLER), bare.statuses(1, Op.END))
            end.countDown()
            assertEquals(CloseCode.CLOSED, closed.get(60, TimeUnit.SECONDS).code)
            assertEquals(1, ran.get())
        }
    }

    @Test
    fun `a closing end serves the calls that handlers of its own calls make`() {
        endpoints { a, b ->
            a.messages("back").handle { message, _ -> Reply.of(message) }
            val closing = CompletableFuture<Unit>()
            b.messages("m").handle { _, _ ->
                closing.get(60, TimeUnit.SECONDS)
                b.messages("back").send(7).get(60, TimeUnit.SECONDS)
            }
            val answer = a.messages("m").send(null)
            a.closeAsync()
            closing.complete(Unit)
            assertEquals(7, (answer.get(60, TimeUnit.SECONDS).value as Number).toInt())
        }
    }

    @Test
    fun `requests leave although the replies that wait take all the room every time`() {
        Bare(EndpointOptions().clock(FakeClock())).use { bare ->
            val messages = bare.end.messages("m", Codecs.BINARY)
            messages.handle { _, _ -> Reply.of(ByteArray(2000)) }
            messages.post(ByteArray(2000)) // It fills the window of the transport.
            for (id in 1..20) bare.call(id)
            until { bare.end.stats().waitingBytes >= 20 * 2000 }
            messages.post(ByteArray(1))
            bare.read()
            bare.frames(Op.REPLY, 20)
            val ops = bare.log.frames.map { readFrame(it)!!.op }
            assertEquals(2, ops.count { it == Op.POST })
            assertEquals(Op.REPLY, ops.last())
        }
    }

    @Test
    fun `the first of a channel's posts that finds no place is reported`() {
        val errors = ArrayList<String>()
        val options = EndpointOptions().callsMax(1).clock(FakeClock())
        options.onError { thrown, channel -> synchronized(errors) { errors.add("$channel: ${thrown.message}") } }
        Bare(options).use { bare ->
            val begun = CountDownLatch(1)
            val end = CountDownLatch(1)
            bare.end.messages("m", Codecs.BINARY).handle { _, _ ->
                begun.countDown()
                end.await()
                Reply.empty()
            }
            repeat(20) { bare.there.send(writeFrame(Head(Op.POST), "m".toByteArray())) }
            begun.await()
            until { synchronized(errors) { errors.isNotEmpty() } }
            bare.call(1)
            bare.read()
            assertEquals(listOf(Status.BUSY), bare.statuses(1))
            assertEquals(
                listOf("m: a post to m was dropped, and others may be"),
                synchronized(errors) { errors.toList() },
            )
            end.countDown()
        }
    }

    @Test
    fun `a plain stream is cancelled at the other end also while callsMax calls are open`() {
        val (here, there) = MemoryTransport.pair()
        val options = EndpointOptions().withoutHello().callsMax(2)
        val end = Endpoint.connect(here, options).get(60, TimeUnit.SECONDS)
        val log = Log()
        there.open(log)
        val stream = end.events("e").listen<Any?>()
        there.send(writeFrame(Head(Op.ANSWER, id = 1), body = codec.encodeReply(MethodReply.Success(null))))
        until { end.stats().calls == 0 }
        repeat(2) { end.messages("m").send(null) }
        stream.close()
        end.messages("fence").post(null)
        fun sent(channel: String) =
            log.frames.map { readFrame(it)!! }.filter { Codecs.STRING.decodeOwned(it.name) == channel }
        log.until { sent("fence").isNotEmpty() }
        assertEquals(listOf("listen", "cancel"), sent("e").map { codec.decodeCall(bytesOf(it.body)).method })
        end.terminate()
    }

    @Test
    fun `a call and a connect that time out by orTimeout are given up at both ends`() {
        val cancelled = CountDownLatch(1)
        val begun = CountDownLatch(1)
        endpoints { a, b ->
            b.methods("slow")
                .handle(
                    MethodTable().on("it") { _, context ->
                        context.onCancel { cancelled.countDown() }
                        begun.countDown()
                        CompletableFuture<Any?>()
                    }
                )
            val call = a.methods("slow").call<Any?>("it")
            begun.await()
            call.completeExceptionally(TimeoutException())
            cancelled.await()
            assertEquals(0, a.stats().calls)
        }
        val (here, there) = MemoryTransport.pair()
        val log = Log()
        there.open(log)
        Endpoint.connect(here).completeExceptionally(TimeoutException())
        assertEquals(CloseCode.CLOSED, log.end().code)
    }
}
