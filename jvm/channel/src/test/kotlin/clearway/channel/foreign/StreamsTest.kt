// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.foreign

import clearway.channel.FakeClock
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
import org.junit.jupiter.api.Assertions.assertEquals
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
    fun `an input that throws ends the transport`(): List<DynamicTest> =
        THROWING.map { (what, throwing) ->
            dynamicTest("it throws $what") {
                val log = Log()
                val input =
                    object : InputStream() {
                        override fun read(): Int = throwing()

                        override fun read(into: ByteArray, from: Int, count: Int): Int = throwing()
                    }
                StreamTransport.of(input, ByteArrayOutputStream()).open(log)
                assertTrue(log.end().code in listOf(CloseCode.LOST, CloseCode.FAILED))
            }
        }

    @TestFactory
    fun `an output that throws ends the transport`(): List<DynamicTest> =
        THROWING.map { (what, throwing) ->
            dynamicTest("it throws $what") {
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
        }

    @TestFactory
    fun `a sink that throws is told what comes next, and the end`(): List<DynamicTest> =
        THROWING.map { (what, throwing) ->
            dynamicTest("it throws $what") {
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
}
