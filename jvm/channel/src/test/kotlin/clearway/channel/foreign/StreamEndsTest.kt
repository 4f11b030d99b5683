// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.foreign

import clearway.channel.transport.ChannelSink
import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason
import clearway.channel.transport.FrameReader
import clearway.channel.transport.Log
import clearway.channel.transport.StreamTransport
import clearway.channel.transport.TransportLimits
import clearway.channel.transport.pattern
import clearway.channel.transport.streamHeader
import java.io.ByteArrayInputStream
import java.io.ByteArrayOutputStream
import java.io.InputStream
import java.io.OutputStream
import java.math.BigDecimal
import java.nio.channels.Channels
import java.nio.channels.Pipe
import java.time.Instant
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

/** Tests of what an application's objects and sinks leave to a transport over streams. */
class StreamEndsTest {
    private val log = Log()
    private val pipe = Pipe.open()
    private val frame = streamHeader(3) + pattern(3)

    /** A map that throws when it is read, as one that another thread changes. */
    private class Changing : AbstractMap<String, Any>() {
        override val entries: Set<Map.Entry<String, Any>>
            get() = throw ConcurrentModificationException()
    }

    /** Returns a sink that leaves its thread interrupted. */
    private fun interrupting(onFrame: () -> Unit = {}) =
        object : ChannelSink by log {
            override fun frame(frame: ByteArray) {
                onFrame()
                log.frame(frame)
                Thread.currentThread().interrupt()
            }

            override fun drained() {
                log.drained()
                Thread.currentThread().interrupt()
            }
        }

    /** A process that has exited with status 3. A thread that waits for it must not be interrupted. */
    private class Exited(private val wait: () -> Unit = {}) : Process() {
        override fun waitFor(timeout: Long, unit: TimeUnit): Boolean {
            wait()
            if (Thread.interrupted()) throw InterruptedException()
            return true
        }

        override fun waitFor(): Int = 3

        override fun exitValue(): Int = 3

        override fun getInputStream(): InputStream = InputStream.nullInputStream()

        override fun getErrorStream(): InputStream = InputStream.nullInputStream()

        override fun getOutputStream(): OutputStream = OutputStream.nullOutputStream()

        override fun destroy() = Unit
    }

    @TestFactory
    fun `a reason whose detail is not JSON is sent without it`(): List<DynamicTest> {
        val details =
            mapOf(
                "a time" to mapOf("detail" to Instant.EPOCH),
                "a decimal" to mapOf("detail" to BigDecimal.TEN),
                "a set" to mapOf("detail" to setOf(1)),
                "half a character" to mapOf("detail" to "\ud83d"),
                "a map that changes" to Changing(),
            )
        return details.map { (what, detail) ->
            dynamicTest("it has $what") {
                val log = Log()
                val output = ByteArrayOutputStream()
                val transport = StreamTransport.of(Channels.newInputStream(Pipe.open().source()), output)
                transport.open(log)
                transport.close(CloseReason(CloseCode.PROTOCOL, "enough", detail))
                assertEquals(CloseCode.PROTOCOL, log.end().code)
                val reasons = ArrayList<CloseReason>()
                FrameReader(100, {}, reasons::add).push(output.toByteArray(), output.size())
                assertEquals(listOf(CloseReason(CloseCode.PROTOCOL, "enough")), reasons)
            }
        }
    }

    @Test
    fun `a paused transport goes on when its sink has left the reading thread interrupted`() {
        val transport = StreamTransport.of(Channels.newInputStream(pipe.source()), ByteArrayOutputStream())
        transport.open(interrupting(onFrame = transport::pause))
        Channels.newOutputStream(pipe.sink()).use { there ->
            for (count in 1..3) {
                there.write(frame)
                log.until { frames.size == count || reasons.isNotEmpty() }
                transport.resume()
            }
        }
        assertEquals(3, log.frames.size)
        assertEquals(CloseCode.LOST, log.end().code)
    }

    @Test
    fun `a transport writes on when its sink has left the writing thread interrupted`() {
        val output = ByteArrayOutputStream()
        val transport = StreamTransport.of(Channels.newInputStream(pipe.source()), output, TransportLimits(100, 1))
        transport.open(interrupting())
        for (count in 1..3) {
            transport.send(pattern(3))
            log.until { drains == count || reasons.isNotEmpty() }
        }
        transport.close(CloseReason.CLOSED)
        assertEquals(CloseCode.CLOSED, log.end().code)
        assertEquals(3, log.drains)
        pipe.sink().close()
    }

    @Test
    fun `the exit of a process is the reason when the sink has left the reading thread interrupted`() {
        StreamTransport(ByteArrayInputStream(frame), ByteArrayOutputStream(), TransportLimits(), Exited(), true)
            .open(interrupting())
        assertEquals(mapOf("exitCode" to 3), log.end().detail)
    }

    @Test
    fun `the transport is lost when the exit of its process cannot be read`() {
        val process = Exited { throw InterruptedException() }
        StreamTransport(ByteArrayInputStream(frame), ByteArrayOutputStream(), TransportLimits(), process, true)
            .open(log)
        assertEquals(CloseReason(CloseCode.LOST, "the other end closed its output"), log.end())
    }
}
