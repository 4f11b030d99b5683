// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.coroutines

import clearway.channel.CallOptions
import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.channel.Endpoint
import clearway.channel.EndpointOptions
import clearway.channel.MethodTable
import clearway.channel.RemoteException
import clearway.channel.Reply
import clearway.channel.UnexpectedValueException
import clearway.channel.codec.Codecs
import clearway.channel.codec.MessageCodec
import clearway.channel.foreign.Mute
import clearway.channel.transport.MemoryTransport
import java.nio.ByteBuffer
import java.util.concurrent.CompletableFuture
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class CallsTest {
    @Test
    fun `a call returns the result, which may be null`() = connected { ends ->
        ends.there.methods("math").handle(MethodTable().on("square") { args, _ -> (args as Int?)?.let { it * it } })
        val math = ends.here.methods("math")
        assertEquals(49, math.awaitCall<Int>("square", 7))
        assertNull(math.awaitCall<Int?>("square"))
    }

    @Test
    fun `a call and a flow fail when a value does not fit the type that was asked for`() = connected { ends ->
        ends.there.methods("files").handle(MethodTable().on("size") { _, _ -> 5_000_000_000L })
        ends.there.events("sizes").serveEach({ listOf(1, 5_000_000_000L) })
        val files = ends.here.methods("files")
        assertEquals(
            "files.size: result must be Int: result=5000000000",
            thrownBy<UnexpectedValueException> { files.awaitCall<Int>("size") }.message,
        )
        assertEquals(5_000_000_000L, files.awaitCall<Long>("size"))
        val got = mutableListOf<Int>()
        thrownBy<UnexpectedValueException> { ends.here.events("sizes").asFlow<Int>().collect { got += it } }
        assertEquals(listOf(1), got)
    }

    @Test
    fun `a message has a reply, and a post has none`() = connected { ends ->
        val posted = CompletableDeferred<String?>()
        ends.there.messages("log", Codecs.STRING).handle { line, _ ->
            if (line == "post") posted.complete(line)
            Reply.of(line?.uppercase())
        }
        val log = ends.here.messages("log", Codecs.STRING)
        assertEquals("LINE", log.awaitSend("line").value)
        log.awaitPost("post")
        assertEquals("post", posted.await())
    }

    @Test
    fun `a failed call throws the same exceptions as its future`() = connected { ends ->
        ends.there
            .methods("math")
            .handle(
                MethodTable()
                    .on("refuse") { _, _ -> throw RemoteException("OUT_OF_RANGE", "no zoom of 9") }
                    .onSuspending("hang", this) { _, _ -> awaitCancellation() }
            )
        val math = ends.here.methods("math")
        assertEquals("OUT_OF_RANGE", thrownBy<RemoteException> { math.awaitCall<Int>("refuse") }.code)
        assertEquals(ChannelError.NOT_IMPLEMENTED, thrownBy<ChannelException> { math.awaitCall<Int>("focus") }.error)
        val soon = CallOptions().deadlineMs(1)
        assertEquals(
            ChannelError.DEADLINE,
            thrownBy<ChannelException> { math.awaitCall<Int>("hang", null, soon) }.error,
        )
        ends.here.terminate()
        assertEquals(ChannelError.TRANSPORT_CLOSED, thrownBy<ChannelException> { math.awaitCall<Int>("refuse") }.error)
    }

    @Test
    fun `cancelling the coroutine cancels the handler's coroutine at the other end`() = connected { ends ->
        val began = CompletableDeferred<Unit>()
        val ended = CompletableDeferred<Throwable?>()
        ends.there
            .methods("slow")
            .handle(
                MethodTable().onSuspending("wait", this) { _, context ->
                    began.complete(Unit)
                    try {
                        awaitCancellation()
                    } finally {
                        ended.complete(null)
                        assertTrue(context.isCancelled)
                    }
                }
            )
        val call = launch { ends.here.methods("slow").awaitCall<Any?>("wait") }
        began.await()
        call.cancel()
        call.join()
        ended.await()
    }

    @Test
    fun `a coroutine that is cancelled sends nothing`() = connected { ends ->
        val calls = AtomicInteger()
        ends.there.methods("count").handle(MethodTable().on("up") { _, _ -> calls.incrementAndGet() })
        val count = ends.here.methods("count")
        val cancelled =
            launch(start = CoroutineStart.UNDISPATCHED) {
                coroutineContext[Job]?.cancel()
                count.awaitCall<Int>("up")
            }
        cancelled.join()
        assertEquals(1, count.awaitCall<Int>("up"))
    }

    @Test
    fun `a handler that was cancelled counts against callsMax until its coroutine has ended`() =
        connected(EndpointOptions().callsMax(1)) { ends ->
            val goOn = CompletableDeferred<Unit>()
            val began = CompletableDeferred<Unit>()
            ends.there
                .methods("slow")
                .handle(
                    MethodTable().onSuspending("wait", this) { _, _ ->
                        began.complete(Unit)
                        withContext(NonCancellable) { goOn.await() }
                    }
                )
            val slow = ends.here.methods("slow")
            val first = launch { slow.awaitCall<Any?>("wait") }
            began.await()
            first.cancel()
            first.join()
            val refused = thrownBy<ChannelException> { slow.awaitCall<Any?>("wait") }
            assertEquals(ChannelError.QUEUE_FULL, refused.error)
            goOn.complete(Unit)
        }

    @Test
    fun `an exception of a suspending handler goes to the caller, and the scope stays active`() = connected { ends ->
        ends.there
            .methods("math")
            .handle(
                MethodTable()
                    .onSuspending("fail", this) { _, _ -> throw RemoteException("MINE", "broken") }
                    .onSuspending("mute", this) { _, _ -> throw Mute() }
            )
        ends.there.messages("log").handleSuspending(this) { _, _ -> throw CancellationException("not the coroutine's") }
        assertEquals("MINE", thrownBy<RemoteException> { ends.here.methods("math").awaitCall<Any?>("fail") }.code)
        thrownBy<RemoteException> { ends.here.methods("math").awaitCall<Any?>("mute") }
        assertEquals("cancelled", thrownBy<RemoteException> { ends.here.messages("log").awaitSend(1) }.code)
        assertTrue(coroutineContext[Job]?.isActive == true)
    }

    @Test
    fun `a codec that throws CancellationException does not end the coroutine silently`() = connected { ends ->
        val lying =
            object : MessageCodec<Any> by Codecs.STANDARD {
                override fun decodeOwned(message: ByteBuffer): Any? = throw CancellationException("a lie")

                override fun decode(message: ByteArray): Any? = throw CancellationException("a lie")
            }
        ends.there.messages("log").handle { message, _ -> Reply.of(message) }
        val failed = thrownBy<ChannelException> { ends.here.messages("log", lying).awaitSend(1) }
        assertEquals(ChannelError.CANCELLED, failed.error)
        assertTrue(failed.cause is CancellationException)
    }

    @Test
    fun `cancelling a connect closes the transport`() = runBlocking {
        val (one, other) = MemoryTransport.pair()
        val connect = launch(start = CoroutineStart.UNDISPATCHED) { Endpoint.awaitConnect(one) }
        connect.cancelAndJoin()
        // The peer may have received the hello before the transport closed.
        val closed =
            Endpoint.connect(other).handle { peer, _ -> peer?.closed ?: CompletableFuture.completedFuture(null) }
        closed.get().get()
        Unit
    }
}

/** Returns what `act` throws. */
inline fun <reified T : Throwable> thrownBy(act: () -> Any?): T {
    try {
        act()
    } catch (thrown: Throwable) {
        return thrown as T
    }
    error("nothing was thrown")
}

/** Two connected endpoints in this process. `here` is the one that the coroutines under test use. */
class Ends(val here: Endpoint, val there: Endpoint) {
    /** Waits until neither endpoint has a call or a stream. It never ends if something was left behind. */
    suspend fun areIdle() {
        for (end in listOf(here, there)) {
            while (end.stats().run { calls + handling + listening + serving } > 0) yield()
            assertEquals(0, end.stats().waitingBytes)
        }
    }
}

/** Runs a test with two endpoints, on real threads, and checks that it leaves nothing behind. */
fun connected(options: EndpointOptions = EndpointOptions(), test: suspend CoroutineScope.(Ends) -> Unit): Unit =
    runBlocking(Dispatchers.Default) {
        withTimeout(100_000) {
            val (one, other) = MemoryTransport.pair()
            val there = Endpoint.connect(other, options)
            val ends = Ends(Endpoint.awaitConnect(one), there.get())
            try {
                test(ends)
                ends.areIdle()
            } finally {
                ends.here.terminate()
                ends.there.terminate()
            }
        }
    }

class ExampleTest {
    // #region kotlin-serve
    private fun serve(thermometer: Endpoint, scope: CoroutineScope) {
        thermometer
            .methods("lab/thermometer")
            .handle(
                MethodTable().onSuspending("level", scope) { _, _ ->
                    delay(1) // a cancelled call cancels this coroutine
                    mapOf("level" to 21.5)
                }
            )
        thermometer.events("lab/thermometer/changed").serveFlow(scope) {
            flow { for (step in 0..100) emit(mapOf("level" to 20.0 + step)) } // suspends while the listener is behind
        }
    }

    // #endregion kotlin-serve

    // #region kotlin-call
    private suspend fun read(sensor: Endpoint): Pair<Double, Double> = coroutineScope {
        val reading = sensor.methods("lab/thermometer").awaitCall<Map<String, Double>>("level")
        val hot =
            sensor.events("lab/thermometer/changed").asFlow<Map<String, Double>>().first {
                it.getValue("level") > 30
            } // then ends the stream at both ends
        Pair(reading.getValue("level"), hot.getValue("level"))
    }

    // #endregion kotlin-call

    @Test
    fun `the example reads a level and waits for a high one`() = connected { ends ->
        serve(ends.there, this)
        assertEquals(Pair(21.5, 31.0), read(ends.here))
    }
}
