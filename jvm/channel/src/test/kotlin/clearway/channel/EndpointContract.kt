// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.Codecs
import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason
import clearway.channel.transport.MemoryTransport
import clearway.channel.transport.StreamTransport
import java.net.InetAddress
import java.net.ServerSocket
import java.net.Socket
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutionException
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The contract between two connected endpoints, over any transport. */
abstract class EndpointContract {
    abstract fun transports(): Pair<ChannelTransport, ChannelTransport>

    internal val clock = FakeClock()
    private val open = ArrayList<Endpoint>()

    @AfterEach
    fun close() {
        for (each in open) each.terminate()
    }

    protected fun options() = EndpointOptions().clock(clock)

    protected fun connect(a: EndpointOptions = options(), b: EndpointOptions = options()): Pair<Endpoint, Endpoint> {
        val (here, there) = transports()
        val ends = listOf(Endpoint.connect(here, a), Endpoint.connect(there, b)).map { it.get(60, TimeUnit.SECONDS) }
        open += ends
        return Pair(ends[0], ends[1])
    }

    protected fun outcome(call: CompletableFuture<*>): OutcomeKind = Outcome.of(call).get(60, TimeUnit.SECONDS).kind

    private fun <T> get(future: CompletableFuture<T>): T = future.get(60, TimeUnit.SECONDS)

    /** Serves a method that `answer` ends. Returns a latch that opens when the method was called. */
    private fun serveSlow(
        end: Endpoint,
        answer: CompletableFuture<Any?> = CompletableFuture(),
        onCall: (HandlerContext) -> Unit = {},
    ): CountDownLatch {
        val begun = CountDownLatch(1)
        end.methods("slow")
            .handle(
                MethodTable().on("it") { _, context ->
                    onCall(context)
                    begun.countDown()
                    answer
                }
            )
        return begun
    }

    @Test
    fun `methods are called both ways, with lists of numbers and nulls`() {
        val (a, b) = connect()
        b.methods("math")
            .handle(MethodTable().on("sum") { args, _ -> (args as IntArray).sum() }.on("none") { _, _ -> null })
        a.methods("echo").handle(MethodTable().on("it") { args, _ -> args })
        assertEquals(6, get(a.methods("math").call<Int>("sum", intArrayOf(1, 2, 3))))
        assertNull(get(a.methods("math").call<Any?>("none")))
        val large = ByteArray(300_000) { it.toByte() }
        assertArrayEquals(large, get(b.methods("echo").call<ByteArray>("it", large)))
    }

    @Test
    fun `the ends of a call are kept apart`() {
        val (a, b) = connect(b = options().early(1).exposeErrors(true))
        val math = a.methods("math")
        b.methods("math")
            .handle(
                MethodTable()
                    .on("refuse") { _, _ -> throw RemoteException("OUT_OF_RANGE", "no zoom of 9", mapOf("max" to 8)) }
                    .on("break") { _, _ -> throw IllegalStateException("broken", RuntimeException("why")) }
                    .on("later") { _, _ -> CompletableFuture.completedFuture(null) }
            )
        assertEquals(OutcomeKind.RESULT, outcome(math.call<Any?>("later")))
        assertEquals(OutcomeKind.NOT_IMPLEMENTED, outcome(math.call<Any?>("focus")))
        val refused = get(Outcome.of(math.call<Any?>("refuse"))).error as RemoteException
        assertEquals(
            listOf("OUT_OF_RANGE", "no zoom of 9", mapOf("max" to 8)),
            listOf(refused.code, refused.message, refused.details),
        )
        val broken = get(Outcome.of(math.call<Any?>("break"))).error as RemoteException
        assertEquals("java.lang.IllegalStateException", (broken.cause as RemoteCause).remoteName)
        assertEquals("why", broken.cause?.cause?.message)
        // The other end keeps one early message. The first call is dropped, and the second waits until its time is
        // over.
        val first = a.methods("nobody").call<Any?>("one")
        val second = a.methods("nobody").call<Any?>("two")
        assertEquals(OutcomeKind.DROPPED, outcome(first))
        clock.pass(6_000)
        assertEquals(OutcomeKind.NO_HANDLER, outcome(second))
    }

    @Test
    fun `a call ends at its deadline, and its handler hears of it`() {
        val (a, b) = connect()
        val cancelled = CountDownLatch(1)
        val begun =
            serveSlow(b) { context ->
                assertEquals(500L, context.deadlineMs)
                context.onCancel { cancelled.countDown() }
            }
        val call = a.methods("slow").call<Any?>("it", null, CallOptions().deadlineMs(500))
        begun.await()
        clock.pass(500)
        assertEquals(OutcomeKind.DEADLINE, outcome(call))
        cancelled.await()
    }

    @Test
    fun `a handler that runs too long is answered with a timeout`() {
        val (a, b) = connect()
        val begun = serveSlow(b)
        val call = a.methods("slow").call<Any?>("it", null, CallOptions().timeoutMs(100))
        begun.await()
        clock.pass(100)
        assertEquals(OutcomeKind.TIMEOUT, outcome(call))
    }

    @Test
    fun `cancelling a future cancels the call at the other end`() {
        val (a, b) = connect()
        val cancelled = CountDownLatch(1)
        val begun = serveSlow(b) { context -> context.onCancel { cancelled.countDown() } }
        val call = a.methods("slow").call<Any?>("it")
        begun.await()
        call.cancel(true)
        cancelled.await()
        assertEquals(OutcomeKind.CANCELLED, outcome(call))
        assertEquals(0, a.stats().calls)
    }

    @Test
    fun `messages are handled in their order, with replies that may be empty or null`() {
        val (a, b) = connect()
        val heard = LinkedBlockingQueue<Any>()
        b.messages("log", Codecs.STRING).handle { line, _ ->
            heard += line.orEmpty()
            if (line == "empty") Reply.empty() else Reply.of(line)
        }
        repeat(100) { a.messages("log", Codecs.STRING).post("line $it") }
        assertEquals("line", get(a.messages("log", Codecs.STRING).send("line")).value)
        assertTrue(get(a.messages("log", Codecs.STRING).send("empty")).isEmpty)
        assertEquals(List(100) { "line $it" } + listOf("line", "empty"), heard.toList())
    }

    @Test
    fun `what comes early waits for its handler`() {
        val (a, b) = connect()
        val call = a.methods("later").call<String>("name")
        val post = get(a.messages("posts").post(1))
        assertNull(post)
        val heard = LinkedBlockingQueue<Any>()
        b.messages("posts").handle { message, _ ->
            heard += message ?: "null"
            Reply.empty()
        }
        b.methods("later").handle(MethodTable().on("name") { _, _ -> "there" })
        assertEquals("there", get(call))
        assertEquals(1, heard.take())
    }

    @Test
    fun `an iterable is drawn on only as far as there is credit, and ends with its reader`() {
        val (a, b) = connect()
        val drawn = LinkedBlockingQueue<Int>()
        val closed = CountDownLatch(1)
        b.events("numbers")
            .serveEach({ args ->
                Iterable {
                    object : Iterator<Int>, AutoCloseable {
                        private var at = args as Int

                        override fun hasNext() = true

                        override fun next() = at++.also { drawn += it }

                        override fun close() = closed.countDown()
                    }
                }
            })
        a.events("numbers").listen<Int>(5, ListenOptions().window(4)).use { numbers ->
            assertEquals(listOf(5, 6, 7), numbers.take(3))
            assertTrue(drawn.size <= 3 + 4)
        }
        closed.await()
        assertTrue(drawn.size <= 3 + 4)
    }

    @Test
    fun `a stream ends, and its error is told once`() {
        val (a, b) = connect()
        b.events("few").serveEach({ listOf("a", null, "c") })
        b.events("bad")
            .serve({ _, sink ->
                sink.send(1)
                sink.fail(RemoteException("EMPTY", "no more", 7))
            })
        assertEquals(listOf("a", null, "c"), a.events("few").listen<String?>().toList())
        val bad = a.events("bad").listen<Int>()
        assertEquals(1, get(bad.read()).value)
        val failed = assertThrows(ExecutionException::class.java) { get(bad.read()) }
        assertEquals("EMPTY", (failed.cause as RemoteException).code)
        assertTrue(get(bad.read()).isEnd)
    }

    @Test
    fun `pushed events beyond the credit wait, or are dropped and counted`() {
        val (a, b) = connect()
        val results = ArrayList<Boolean>()
        val pushed = CountDownLatch(1)
        b.events("frames")
            .serve({ _, sink ->
                val sent = (0 until 10).map { sink.send(it) }
                sink.end()
                results += sent.map { it.get() }
                pushed.countDown()
            })
        val frames = a.events("frames").listen<Int>(null, ListenOptions.latest())
        pushed.await()
        val read = frames.toList()
        assertEquals(10, read.size + frames.dropped.toInt())
        assertEquals(9, read.last())
        assertEquals(10, results.size)
    }

    @Test
    fun `every listener of a channel has its own stream, and one that does not read holds up no other`() {
        val (a, b) = connect()
        b.events("shared")
            .serve({ _, sink ->
                for (n in 1..50) sink.send(n)
                sink.end()
            })
        val idle = a.events("shared").listen<Int>()
        assertEquals(1, get(idle.read()).value)
        for (listener in 1..2) {
            val events = a.events("shared").listen<Int>()
            for (n in 1..50) assertEquals(n, get(events.read()).value)
            assertTrue(get(events.read()).isEnd)
        }
        for (n in 2..50) assertEquals(n, get(idle.read()).value)
    }

    @Test
    fun `listens that wait for their handler are all served`() {
        val (a, b) = connect()
        val streams = List(2) { a.events("late").listen<Any?>(it) }
        val first = streams.map { it.read() }
        b.messages("fence").handle { _, _ -> Reply.empty() }
        get(a.messages("fence").send(1)) // its answer tells that both have arrived
        b.events("late").serve({ args, sink -> sink.send(args) })
        for ((at, event) in first.withIndex()) assertEquals(at, get(event).value)
    }

    @Test
    fun `whatever is under way ends with the transport`() {
        val (a, b) = connect()
        val begun = serveSlow(b)
        val call = a.methods("slow").call<Any?>("it")
        val early = a.methods("nobody").call<Any?>("it")
        val stream = a.events("nobody").listen<Any?>()
        val read = stream.read()
        begun.await()
        b.terminate(CloseReason(CloseCode.FAILED, "enough"))
        assertEquals(OutcomeKind.CLOSED, outcome(call))
        assertEquals(OutcomeKind.CLOSED, outcome(early))
        assertEquals(OutcomeKind.CLOSED, outcome(read))
        assertEquals(CloseCode.FAILED, get(a.closed).code)
        assertEquals(OutcomeKind.CLOSED, outcome(a.methods("slow").call<Any?>("it")))
    }

    @Test
    fun `closing lets calls be answered first`() {
        val (a, b) = connect()
        val answer = CompletableFuture<Any?>()
        val begun = serveSlow(b, answer)
        val call = a.methods("slow").call<String>("it")
        begun.await()
        val closed = a.closeAsync()
        assertEquals(OutcomeKind.CLOSED, outcome(a.methods("slow").call<Any?>("it")))
        answer.complete("done")
        assertEquals("done", get(call))
        assertEquals(CloseCode.CLOSED, get(closed).code)
        assertEquals(CloseCode.CLOSED, get(b.closed).code)
    }

    @Test
    fun `more calls than callsMax are refused at the end that makes them`() {
        val (a, b) = connect(a = options().callsMax(2))
        serveSlow(b)
        repeat(2) { a.methods("slow").call<Any?>("it") }
        assertEquals(OutcomeKind.QUEUE_FULL, outcome(a.methods("slow").call<Any?>("it")))
    }

    @Test
    fun `the plain wire has methods, errors and events`() {
        val (a, b) = connect(options().wire(Wire.EITHER), options().wire(Wire.PLAIN))
        assertEquals(Wire.PLAIN, a.wire)
        b.methods("math")
            .handle(
                MethodTable()
                    .on("half") { args, _ -> (args as Int) / 2 }
                    .on("refuse") { _, _ -> throw RemoteException("NO", "no", 1) }
            )
        b.events("few").serveEach({ args -> listOf(args, null, "c") })
        assertEquals(21, get(a.methods("math").call<Int>("half", 42)))
        assertEquals(OutcomeKind.REMOTE_ERROR, outcome(a.methods("math").call<Any?>("refuse")))
        assertEquals(OutcomeKind.NOT_IMPLEMENTED, outcome(a.methods("math").call<Any?>("none")))
        assertEquals(listOf("first", null, "c"), a.events("few").listen<Any?>("first").toList())
        // The other end refuses the early call. On the plain wire, a refusal is a reply without bytes.
        val nobody = a.methods("nobody").call<Any?>("it")
        get(a.methods("math").call<Int>("half", 2)) // its answer tells that the early call has arrived
        clock.pass(6_000)
        assertEquals(OutcomeKind.NOT_IMPLEMENTED, outcome(nobody))
    }

    @Test
    fun `ends that share no wire tell each other and close`() {
        val (here, there) = transports()
        val a = Endpoint.connect(here, options())
        val b = Endpoint.connect(there, options().wire(Wire.PLAIN))
        for (each in listOf(a, b)) assertThrows(ExecutionException::class.java) { get(each) }
    }
}

class MemoryEndpointTest : EndpointContract() {
    override fun transports(): Pair<ChannelTransport, ChannelTransport> = MemoryTransport.pair()
}

class StreamEndpointTest : EndpointContract() {
    override fun transports(): Pair<ChannelTransport, ChannelTransport> = streams()
}

class MemoryFrameLimitTest : FrameLimitContract() {
    override fun transports(): Pair<ChannelTransport, ChannelTransport> = MemoryTransport.pair()
}

class StreamFrameLimitTest : FrameLimitContract() {
    override fun transports(): Pair<ChannelTransport, ChannelTransport> = streams()
}

private fun streams(): Pair<ChannelTransport, ChannelTransport> =
    ServerSocket(0, 1, InetAddress.getLoopbackAddress()).use { server ->
        val a = Socket(server.inetAddress, server.localPort)
        val b = server.accept()
        Pair(
            StreamTransport.of(a.getInputStream(), a.getOutputStream()),
            StreamTransport.of(b.getInputStream(), b.getOutputStream()),
        )
    }
