// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.Codecs
import clearway.channel.codec.MethodCall
import clearway.channel.endpoint.Core
import clearway.channel.endpoint.Listener
import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason
import clearway.channel.transport.Log
import clearway.channel.transport.MemoryTransport
import clearway.channel.wire.Head
import clearway.channel.wire.Op
import clearway.channel.wire.Wires
import clearway.channel.wire.readFrame
import clearway.channel.wire.writeFrame
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ExecutionException
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Checks that an endpoint keeps no futures without a reader. */
class ForgottenFuturesTest {
    @Test
    fun `reading closed keeps nothing, and no reader can end the endpoint or the wait of others`() {
        val core = Core(MemoryTransport.pair().first, EndpointOptions(), Wires.CLEARWAY, null)
        val endpoint = Endpoint(core)
        val other = endpoint.closed
        repeat(100_000) { assertFalse(endpoint.closed.isDone) }
        val reason = CloseReason(CloseCode.FAILED, "a reader's own")
        endpoint.closed.cancel(true)
        endpoint.closed.complete(reason)
        endpoint.closed.completeAsync({ reason }, { it.run() })
        endpoint.closed.obtrudeValue(reason)
        endpoint.closed.completeExceptionally(TimeoutException())
        endpoint.closed.obtrudeException(TimeoutException())
        val late = endpoint.closed.orTimeout(1, TimeUnit.MILLISECONDS)
        val failed = assertThrows(ExecutionException::class.java) { late.get(60, TimeUnit.SECONDS) }
        assertEquals(TimeoutException::class.java, failed.cause?.javaClass)
        assertEquals(
            reason,
            endpoint.closed.completeOnTimeout(reason, 1, TimeUnit.MILLISECONDS).get(60, TimeUnit.SECONDS),
        )
        for (each in listOf(other, endpoint.closed)) assertFalse(each.isDone)
        val last = endpoint.closed
        assertTrue(core.closed.numberOfDependents <= 4)
        endpoint.terminate()
        for (each in listOf(other, last, endpoint.closed)) assertEquals(
            CloseCode.CLOSED,
            each.get(60, TimeUnit.SECONDS).code,
        )
    }

    @Test
    fun `reads that were cancelled behind one that waits are not kept`() =
        Bare().use { bare ->
            val stream = bare.end.events("m").listen<Any?>()
            val open = stream.read()
            repeat(100_000) { stream.read().cancel(true) }
            val asking = Listener::class.java.getDeclaredField("asking").apply { isAccessible = true }
            assertTrue((asking.get(stream) as Collection<*>).size <= 2)
            bare.there.send(writeFrame(Head(Op.EVENT, id = 1), body = byteArrayOf(0, 0)))
            assertFalse(open.get(60, TimeUnit.SECONDS).isEnd)
        }
}

class LateListenTest {
    @Test
    fun `a listen on the plain wire that is decoded after close has begun leaves no stream open`() {
        val (here, there) = MemoryTransport.pair()
        val tasks = LinkedBlockingQueue<Runnable>()
        val options = EndpointOptions().withoutHello().executor { tasks.add(it) }
        val end = Endpoint.connect(here, options).get(60, TimeUnit.SECONDS)
        end.messages("m", Codecs.BINARY).handleAsync { _, _ -> CompletableFuture() }
        end.events("e").serveAsync({ _, _ -> CompletableFuture<Unit>() })
        // This call is never answered, so the endpoint does not end meanwhile.
        there.send(writeFrame(Head(Op.MESSAGE, id = 1), name = "m".toByteArray(), body = ByteArray(1)))
        tasks.poll(60, TimeUnit.SECONDS)!!.run()
        val listen = Codecs.STANDARD_METHODS.encodeCall(MethodCall("listen", null))
        there.send(writeFrame(Head(Op.MESSAGE, id = 2), name = "e".toByteArray(), body = listen))
        val late = tasks.poll(60, TimeUnit.SECONDS)!!
        val closed = end.closeAsync(60_000)
        late.run()
        assertEquals(0, end.stats().serving)
        assertFalse(closed.isDone)
        val log = Log()
        there.open(log)
        log.until { log.frames.size == 2 }
        // An event without bytes ends the stream.
        assertEquals(
            listOf(Op.ANSWER to true, Op.MESSAGE to false),
            log.frames.map { readFrame(it)!! }.map { it.op to it.body.hasRemaining() },
        )
        end.terminate()
    }
}
