// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.Codecs
import clearway.channel.codec.MethodCall
import clearway.channel.transport.ChannelSink
import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseCode
import clearway.channel.transport.MemoryTransport
import clearway.channel.transport.TransportLimits
import clearway.channel.wire.Head
import clearway.channel.wire.Op
import clearway.channel.wire.Status
import clearway.channel.wire.readFrame
import clearway.channel.wire.writeFrame
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutionException
import java.util.concurrent.Executor
import java.util.concurrent.Executors
import java.util.concurrent.Phaser
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.Semaphore
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Checks that a request counts against `callsMax` until the code that serves it has ended. */
class CallsMaxTest {
    private val threads = Executors.newCachedThreadPool { task -> Thread(task, "handlers").apply { isDaemon = true } }
    /** Advances when no task of the executor runs. */
    private val tasks = Phaser(1)
    private val clock = FakeClock()
    private val release = CountDownLatch(1)
    private val started = AtomicInteger()
    /** Has one permit for each handler that has begun. */
    private val running = Semaphore(0)
    private val now = AtomicInteger()
    /** The maximum number of handlers that ran at the same time. */
    private val most = AtomicInteger()
    private val call = Codecs.STANDARD_METHODS.encodeCall(MethodCall("it", null))

    private val executor = Executor { task ->
        tasks.register()
        threads.execute {
            try {
                task.run()
            } finally {
                tasks.arriveAndDeregister()
            }
        }
    }

    private fun options() = EndpointOptions().callsMax(4).clock(clock).executor(executor).onError { _, _ -> }

    private fun block() {
        started.incrementAndGet()
        running.release()
        most.accumulateAndGet(now.incrementAndGet(), ::maxOf)
        try {
            release.await()
        } finally {
            now.decrementAndGet()
        }
    }

    /** Runs a test with a bare peer whose calls are handled by [block]. */
    private fun blocking(test: (Bare) -> Unit) =
        Bare(options()).use { bare ->
            bare.end.methods("m").handle(MethodTable().on("it") { _, _ -> null.also { block() } })
            bare.read()
            test(bare)
        }

    /** Lets all handlers end, and waits for them. */
    private fun finish() {
        release.countDown()
        tasks.arriveAndAwaitAdvance()
    }

    @AfterEach
    fun end() {
        release.countDown()
        threads.shutdownNow()
    }

    @Test
    fun `calls whose callers have cancelled count against callsMax while their handlers run`() = blocking { bare ->
        for (id in 1..4) bare.call(id, body = call)
        running.acquire(4)
        for (id in 1..300) {
            if (id > 4) bare.call(id, body = call)
            bare.cancel(id)
        }
        assertEquals(List(296) { Status.BUSY }, bare.statuses(296))
        assertEquals(4, bare.end.stats().handling)
        finish()
        assertEquals(4, started.get())
        assertEquals(0, bare.end.stats().handling)
        bare.call(301, body = call)
        assertEquals(Status.DONE, bare.statuses(297).last())
    }

    @Test
    fun `a caller that cancels at once makes at most callsMax handlers run at a time`() = blocking { bare ->
        for (id in 1..300) {
            bare.call(id, body = call)
            bare.cancel(id)
        }
        // The channel has no events, so the endpoint answers this request at once, after all calls.
        bare.listen(1, "m")
        bare.frames(Op.END, 1)
        // A call that is cancelled before a thread runs its handler starts no handler. It stops counting against
        // `callsMax`.
        assertTrue(bare.end.stats().handling <= 4)
        finish()
        assertTrue(most.get() <= 4, "${most.get()} handlers ran at a time")
        assertEquals(0, bare.end.stats().handling)
    }

    @Test
    fun `a call counts against callsMax after its timeout while its handler runs`() = blocking { bare ->
        for (id in 1..4) bare.call(id, timeoutMs = 5, body = call)
        bare.call(5, body = call)
        assertEquals(listOf(Status.BUSY), bare.statuses(1))
        running.acquire(4)
        clock.pass(5)
        assertEquals(List(4) { Status.TIMEOUT }, bare.statuses(5).drop(1))
        bare.call(6, body = call)
        assertEquals(Status.BUSY, bare.statuses(6).last())
        finish()
        assertEquals(0, bare.end.stats().handling)
    }

    @Test
    fun `a cancelled call counts against callsMax until its handler's stage completes`() =
        Bare(options().callsMax(1)).use { bare ->
            val promised = CompletableFuture<Reply<Any>>()
            val handling = CountDownLatch(1)
            bare.end
                .messages("m")
                .handleAsync({ _, _ ->
                    handling.countDown()
                    promised
                })
            bare.read()
            bare.call(1)
            handling.await()
            // Wait until the endpoint has the stage. Otherwise its completion below may be handled later, on the other
            // thread.
            tasks.arriveAndAwaitAdvance()
            bare.cancel(1)
            bare.call(2)
            assertEquals(listOf(Status.BUSY), bare.statuses(1))
            promised.complete(Reply.empty())
            assertEquals(0, bare.end.stats().handling)
            bare.call(3)
            assertEquals(Status.DONE, bare.statuses(2).last())
        }

    @Test
    fun `a listener that stops at once makes no more sources run than callsMax`() =
        Bare(options()).use { bare ->
            bare.end.events("e").serve({ _, _ -> block() })
            bare.read()
            for (id in 1..4) {
                bare.listen(id)
                running.acquire()
                bare.stop(id)
            }
            for (id in 5..300) {
                bare.listen(id)
                bare.stop(id)
            }
            assertEquals(List(296) { Status.BUSY }, bare.statuses(296, Op.END))
            finish()
            assertEquals(4, started.get())
            bare.listen(301)
            running.acquire()
        }

    @Test
    fun `a stream of an iterable counts against callsMax until its iterator is closed`() =
        Bare(options().callsMax(1)).use { bare ->
            val closing = CountDownLatch(1)
            bare.end
                .events("e")
                .serveEach({
                    Iterable {
                        object : Iterator<Int>, AutoCloseable {
                            override fun hasNext() = true

                            override fun next() = 1

                            override fun close() {
                                closing.countDown()
                                release.await()
                            }
                        }
                    }
                })
            bare.read()
            bare.listen(1)
            bare.frames(Op.EVENT, 1)
            bare.stop(1)
            closing.await()
            bare.listen(2)
            assertEquals(listOf(Status.BUSY), bare.statuses(1, Op.END))
            finish()
            bare.listen(3)
            assertEquals(2, bare.frames(Op.EVENT, 2).size)
        }

    @Test
    fun `a request that the executor refuses does not count against callsMax`() {
        val refused = AtomicInteger()
        val refusing = Executor {
            refused.incrementAndGet()
            throw RejectedExecutionException("full")
        }
        // With a small window, the ends of the streams would wait, and the streams would still count against
        // `callsMax`.
        Bare(options().executor(refusing), limits = TransportLimits(1 shl 20, 1 shl 20)).use { bare ->
            bare.end.methods("m").handle(MethodTable().on("it") { _, _ -> null })
            bare.end.messages("n").handle({ _, _ -> Reply.empty() })
            for (id in 1..20) bare.end.events("e$id").serve({ _, _ -> })
            bare.read()
            for (id in 1..20) bare.call(id, if (id % 2 == 0) "m" else "n", body = call)
            assertEquals(List(20) { Status.ERROR }, bare.statuses(20))
            for (id in 1..20) bare.listen(id, "e$id")
            assertEquals(List(20) { Status.ERROR }, bare.statuses(20, Op.END))
            assertTrue(refused.get() >= 40)
            assertEquals(0, bare.end.stats().handling)
        }
    }
}

/** Checks that the events of a peer take no more memory at the listener than its limits allow. */
class ListenerLimitsTest {
    private fun event(bytes: Int, seed: Int): ByteArray =
        byteArrayOf(0) + Codecs.STANDARD.encode(ByteArray(bytes) { seed.toByte() })

    @Test
    fun `credit that is granted while the peer does not read waits in one frame`() =
        Bare().use { bare ->
            val stream = bare.end.events("e").listen<Any?>(null, ListenOptions().window(10))
            val log = bare.end.messages("log", Codecs.BINARY)
            log.post(ByteArray(2000)) // It fills the window of the transport.
            log.post(ByteArray(1)) // It is sent after the peer has read, and after the credit.
            val event = event(1, 1)
            repeat(10) {
                bare.there.send(writeFrame(Head(Op.EVENT, id = 1), body = event))
                stream.read().get(60, TimeUnit.SECONDS)
            }
            bare.read()
            bare.frames(Op.POST, 2)
            val credit = bare.frames(Op.CREDIT, 1).map { Pair(it.a, it.b) }
            assertEquals(listOf(Pair(10L, 10L * event.size)), credit)
        }

    @Test
    fun `an event for whose credit there was no room ends the transport`() =
        Bare().use { bare ->
            val stream = bare.end.events("e").listen<Any?>(null, ListenOptions().window(2))
            bare.end.messages("log", Codecs.BINARY).post(ByteArray(2000)) // It fills the window of the transport.
            val event = writeFrame(Head(Op.EVENT, id = 1), body = event(1, 1))
            repeat(2) {
                bare.there.send(event)
                stream.read().get(60, TimeUnit.SECONDS)
            }
            bare.there.send(event)
            assertEquals(CloseCode.PROTOCOL, bare.end.closed.get(60, TimeUnit.SECONDS).code)
        }

    @Test
    fun `credit is sent once, also by a transport that delivers an event while it sends`() {
        val event = writeFrame(Head(Op.EVENT, id = 1), body = event(1, 1))
        val granted = CopyOnWriteArrayList<Long>()
        class Reentrant(private val under: ChannelTransport) : ChannelTransport by under {
            private lateinit var sink: ChannelSink

            override fun open(sink: ChannelSink) {
                this.sink = sink
                under.open(sink)
            }

            override fun send(frame: ByteArray): Boolean {
                val sent = readFrame(frame)
                if (sent?.op == Op.CREDIT) {
                    granted += sent.a
                    if (granted.size == 1) sink.frame(event)
                }
                return under.send(frame)
            }
        }
        Bare(change = ::Reentrant).use { bare ->
            val stream = bare.end.events("e").listen<Any?>(null, ListenOptions().window(2))
            val reads = List(2) { stream.read() }
            bare.there.send(event)
            for (read in reads) read.get(60, TimeUnit.SECONDS)
            assertEquals(listOf(1L, 1L), granted)
        }
    }

    /** Sends `count` events with attachments of these sizes to a stream with this window, and its end. */
    private fun events(bare: Bare, count: Int, sizes: List<Int>, window: ListenOptions): EventStream<Any?> {
        val stream = bare.end.events("e").listen<Any?>(null, window)
        val event = frameWithAttachments(Head(Op.EVENT, id = 1), "", sizes, byteArrayOf(0, 0))
        repeat(count) { bare.there.send(event) }
        bare.there.send(writeFrame(Head(Op.END, id = 1)))
        return stream
    }

    @Test
    fun `events whose empty attachments take more memory than the window end the transport`() =
        Bare(EndpointOptions().replyBytesMax(10_000)).use { bare ->
            events(bare, 2, List(1_000) { 0 }, ListenOptions().window(100, 1_000))
            assertEquals(CloseCode.PROTOCOL, bare.end.closed.get(60, TimeUnit.SECONDS).code)
        }

    @Test
    fun `events whose attachments have 128 bytes fill the window`() =
        Bare(EndpointOptions().replyBytesMax(1)).use { bare ->
            val stream = events(bare, 8, List(100) { 128 }, ListenOptions().window(8, 8 * 12_802))
            assertEquals(8, stream.count())
        }

    /** Lets a peer on the plain wire send events of these sizes. Returns the stream when all have arrived. */
    private fun plainEvents(options: ListenOptions, vararg sizes: Int, check: (EventStream<ByteArray>) -> Unit) {
        val (here, there) = MemoryTransport.pair()
        val connecting = Endpoint.connect(here, EndpointOptions().withoutHello().replyBytesMax(10_000))
        val end = connecting.get(60, TimeUnit.SECONDS)
        try {
            val arrived = CompletableFuture<Unit>()
            end.messages("fence", Codecs.BINARY).handle { _, _ ->
                arrived.complete(Unit)
                Reply.empty()
            }
            val stream = end.events("e").listen<ByteArray>(null, options)
            for ((seed, size) in sizes.withIndex()) there.send(
                writeFrame(Head(Op.MESSAGE), name = "e".toByteArray(), body = event(size, seed))
            )
            there.send(writeFrame(Head(Op.MESSAGE), name = "fence".toByteArray(), body = ByteArray(1)))
            arrived.get(60, TimeUnit.SECONDS)
            check(stream)
        } finally {
            end.terminate()
        }
    }

    private fun read(stream: EventStream<ByteArray>) = stream.read().get(60, TimeUnit.SECONDS).value

    @Test
    fun `a stream on the plain wire ends with queue-full when its waiting events exceed replyBytesMax`() =
        plainEvents(ListenOptions(), 4000, 4000, 4000) { stream ->
            val failed = assertThrows(ExecutionException::class.java) { read(stream) }
            assertEquals(ChannelError.QUEUE_FULL, (failed.cause as ChannelException).error)
        }

    @Test
    fun `a stream on the plain wire drops its oldest events when the waiting ones exceed replyBytesMax`() =
        plainEvents(ListenOptions().whenFull(WhenFull.DROP_OLDEST), 4000, 4000, 4000, 4000) { stream ->
            assertEquals(listOf<Byte?>(2, 3), List(2) { read(stream)?.get(0) })
            assertEquals(2, stream.dropped)
        }

    @Test
    fun `a stream on the plain wire keeps one event that is larger than replyBytesMax`() =
        plainEvents(ListenOptions().whenFull(WhenFull.DROP_NEWEST), 20_000, 1) { stream ->
            assertEquals(20_000, read(stream)?.size)
        }
}
