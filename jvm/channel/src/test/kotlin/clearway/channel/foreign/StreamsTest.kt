// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.foreign

import clearway.channel.FakeClock
import clearway.channel.endpoint.Clock
import clearway.channel.endpoint.Timer
import clearway.channel.transport.ChannelSink
import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason
import clearway.channel.transport.Log
import clearway.channel.transport.StreamTransport
import clearway.channel.transport.TransportLimits
import clearway.channel.transport.pattern
import clearway.channel.transport.streamHeader
import java.io.ByteArrayInputStream
import java.io.ByteArrayOutputStream
import java.io.IOException
import java.io.InputStream
import java.io.OutputStream
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

/** Tests of streams and sinks that break their contracts. */
class StreamsTest {
    /** An input that blocks until it is closed, and then returns the result of `end`. */
    private class Silent(private val end: () -> Int = { -1 }) : InputStream() {
        private val closed = CountDownLatch(1)
        val left = CountDownLatch(1)

        override fun read(): Int = read(ByteArray(1))

        override fun read(into: ByteArray, from: Int, count: Int): Int {
            closed.await()
            left.countDown()
            return end()
        }

        override fun close() = closed.countDown()
    }

    /** An output that blocks until it is closed, and then throws. */
    private class Full : OutputStream() {
        private val closed = CountDownLatch(1)
        val begun = CountDownLatch(1)
        val left = CountDownLatch(1)

        override fun write(byte: Int) = write(byteArrayOf(byte.toByte()), 0, 1)

        override fun write(bytes: ByteArray, from: Int, count: Int) {
            begun.countDown()
            closed.await()
            left.countDown()
            throw IOException("closed")
        }

        override fun close() = closed.countDown()
    }

    private fun await(latch: CountDownLatch) = assertTrue(latch.await(Scene.LIMIT, TimeUnit.SECONDS))

    @Test
    fun `an end that neither reads nor leaves holds no thread once it was closed`() {
        val clock = FakeClock()
        val input = Silent()
        val output = Full()
        val log = Log()
        val transport = StreamTransport(input, output, TransportLimits(), null, true, clock)
        transport.open(log)
        transport.send(pattern(100_000))
        await(output.begun)
        transport.close(CloseReason.CLOSED)
        clock.pass(5_000)
        assertEquals(CloseCode.CLOSED, log.end().code)
        await(input.left)
        await(output.left)
    }

    @Test
    fun `a sink that blocks stops neither the timers nor the close of the streams`() {
        val clock = FakeClock()
        val log = Log()
        val begun = CountDownLatch(1)
        val release = CountDownLatch(1)
        val closed = CountDownLatch(1)
        val sink =
            object : ChannelSink by log {
                override fun frame(frame: ByteArray) {
                    begun.countDown()
                    release.await()
                }
            }
        val input =
            object : ByteArrayInputStream(streamHeader(3) + pattern(3)) {
                override fun close() = closed.countDown()
            }
        val transport = StreamTransport(input, ByteArrayOutputStream(), TransportLimits(), null, true, clock)
        transport.open(sink)
        await(begun)
        transport.close(CloseReason.CLOSED)
        CompletableFuture.runAsync { clock.pass(5_000) }.get(Scene.LIMIT, TimeUnit.SECONDS)
        await(closed)
        release.countDown()
        assertEquals(CloseCode.CLOSED, log.end().code)
    }

    @TestFactory
    fun `an input that throws ends the transport`() = each { throwing ->
        val log = Log()
        val input =
            object : InputStream() {
                override fun read(): Int = throwing()

                override fun read(into: ByteArray, from: Int, count: Int): Int = throwing()
            }
        StreamTransport.of(input, ByteArrayOutputStream()).open(log)
        assertTrue(log.end().code in listOf(CloseCode.LOST, CloseCode.FAILED))
    }

    @TestFactory
    fun `an output that throws ends the transport`() = each { throwing ->
        val clock = FakeClock()
        val log = Log()
        val failed = CountDownLatch(1)
        val output =
            object : OutputStream() {
                override fun write(byte: Int) = throwing()

                override fun write(bytes: ByteArray, from: Int, count: Int) {
                    failed.countDown()
                    throwing()
                }
            }
        val transport = StreamTransport(Silent(), output, TransportLimits(), null, true, clock)
        transport.open(log)
        transport.send(pattern(100_000))
        await(failed)
        transport.close(CloseReason.CLOSED)
        clock.pass(5_000)
        log.end()
    }

    @TestFactory
    fun `a sink that throws is told what comes next, and the end`() = each { throwing ->
        val log = Log()
        val sink =
            object : ChannelSink {
                override fun frame(frame: ByteArray) {
                    log.frame(frame)
                    throwing()
                }

                override fun drained() = throwing()

                override fun closed(reason: CloseReason) {
                    log.closed(reason)
                    throwing()
                }
            }
        val two = streamHeader(3) + pattern(3) + streamHeader(4) + pattern(4)
        StreamTransport.of(ByteArrayInputStream(two), ByteArrayOutputStream()).open(sink)
        log.end()
        assertEquals(listOf(3, 4), log.frames.map { it.size })
    }
}

/** Tests that a transport closes its streams once, also if they throw or block. */
class StreamClosingTest {
    /** Runs a timer at once, on a new thread, unless it takes longer than the limit. The first limit is one second. */
    private class Timers : Clock {
        private var limitMs = 1_000L
        private val waiting = ArrayList<() -> Unit>()

        override fun nowMs(): Long = 0

        override fun after(ms: Long, act: () -> Unit): Timer {
            synchronized(this) { if (ms > limitMs) waiting += act else thread(block = act) }
            return Timer {}
        }

        fun runAll() {
            val due =
                synchronized(this) {
                    limitMs = Long.MAX_VALUE
                    waiting.toList()
                }
            for (act in due) act()
        }
    }

    /** The functions of a stream that are application code. */
    private class Closes(private val onClose: () -> Unit) {
        private val begun = CountDownLatch(1)
        private val count = AtomicInteger()

        fun add() {
            count.incrementAndGet()
            begun.countDown()
            onClose()
        }

        /** Waits for the first close. Returns the number of closes. */
        fun await(): Int {
            assertTrue(begun.await(Scene.LIMIT, TimeUnit.SECONDS), "the stream stays open")
            return count.get()
        }

        fun count() = count.get()
    }

    private class Input(private val onRead: () -> Int, onClose: () -> Unit = {}) : InputStream() {
        val closes = Closes(onClose)

        override fun read(): Int = onRead()

        override fun read(into: ByteArray, from: Int, count: Int): Int = onRead()

        override fun close(): Unit = closes.add()
    }

    private class Output(
        private val onWrite: () -> Unit = {},
        private val onFlush: () -> Unit = {},
        onClose: () -> Unit = {},
    ) : OutputStream() {
        val closes = Closes(onClose)
        private val written = ByteArrayOutputStream()

        override fun write(byte: Int) = write(byteArrayOf(byte.toByte()), 0, 1)

        override fun write(bytes: ByteArray, from: Int, count: Int) {
            onWrite()
            synchronized(written) { written.write(bytes, from, count) }
        }

        override fun flush() = onFlush()

        override fun close(): Unit = closes.add()

        fun size(): Int = synchronized(written) { written.size() }
    }

    /** A transport over two streams. */
    private class Subject(val input: Input, val output: Output, ownsStreams: Boolean = true) {
        val timers = Timers()
        val log = Log()
        val transport = StreamTransport(input, output, TransportLimits(), null, ownsStreams, timers)

        /** Waits until both streams are closed, and checks that neither is closed again. */
        fun assertClosedOnce() {
            val first = listOf(input.closes.await(), output.closes.await())
            log.end()
            timers.runAll()
            assertEquals(listOf(1, 1, 1, 1), first + input.closes.count() + output.closes.count())
        }
    }

    private val release = CountDownLatch(1)

    private fun blockingRead(): Int = (-1).also { release.await() }

    @TestFactory
    fun `both streams are closed once when the input throws`() = each { throwing ->
        val subject = Subject(Input({ throwing() }), Output())
        subject.transport.open(subject.log)
        subject.assertClosedOnce()
    }

    @TestFactory
    fun `both streams are closed once when the output throws`(): List<DynamicTest> =
        THROWING.flatMap { (what, throwing) ->
            val outputs = mapOf("write" to { Output(onWrite = throwing) }, "flush" to { Output(onFlush = throwing) })
            outputs.map { (function, create) ->
                dynamicTest("its $function throws $what") {
                    val subject = Subject(Input(::blockingRead), create())
                    subject.transport.open(subject.log)
                    subject.transport.send(pattern(100_000))
                    assertTrue(subject.log.end().code in listOf(CloseCode.LOST, CloseCode.FAILED))
                    subject.output.closes.await()
                    subject.timers.runAll() // A thread still waits for the input.
                    subject.assertClosedOnce()
                    release.countDown()
                }
            }
        }

    @Test
    fun `a close that throws keeps the first error as the reason`() {
        val first = IllegalStateException("first")
        val ofClose = IOException("of close")
        val subject = Subject(Input({ throw first }) { throw ofClose }, Output { throw ofClose })
        subject.transport.open(subject.log)
        assertSame(first, subject.log.end().cause)
        subject.assertClosedOnce()
    }

    @Test
    fun `a close that blocks delays neither the end nor the close of the other stream`() {
        val blocks = { release.await() }
        for ((ofInput, ofOutput) in listOf(Pair(blocks, {}), Pair({}, blocks))) {
            val subject = Subject(Input({ error("broken") }, ofInput), Output(onClose = ofOutput))
            subject.transport.open(subject.log)
            subject.input.closes.await()
            subject.output.closes.await()
            subject.timers.runAll()
            assertEquals(CloseCode.FAILED, subject.log.end().code)
            subject.assertClosedOnce()
        }
        release.countDown()
    }

    @Test
    fun `an input that has thrown is closed after the reason was written`() {
        val output = Output()
        val writtenBytes = CompletableFuture<Int>()
        val subject = Subject(Input({ error("broken") }) { writtenBytes.complete(output.size()) }, output)
        subject.transport.open(subject.log)
        assertTrue(writtenBytes.get(Scene.LIMIT, TimeUnit.SECONDS) > 0)
        subject.assertClosedOnce()
    }

    @Test
    fun `both streams are closed once when the transport ends before it opens`() {
        val subject = Subject(Input({ -1 }), Output())
        subject.transport.close(CloseReason.CLOSED)
        subject.input.closes.await()
        subject.output.closes.await()
        subject.transport.open(subject.log)
        subject.assertClosedOnce()
    }

    @Test
    fun `the process's own output stays open when it has thrown`() {
        val output = Output(onWrite = { throw IOException("broken") })
        val subject = Subject(Input({ -1 }), output, ownsStreams = false)
        subject.transport.send(pattern(100_000))
        subject.transport.open(subject.log)
        subject.log.end()
        subject.input.closes.await()
        subject.timers.runAll()
        assertEquals(0, output.closes.count())
    }
}
