// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

import clearway.channel.codec.Codecs
import clearway.channel.conformance.fromHex
import clearway.channel.conformance.toHex
import clearway.channel.inheritsNothing
import clearway.channel.wire.Frame
import clearway.channel.wire.Head
import clearway.channel.wire.readFrame
import clearway.channel.wire.writeFrame
import java.io.File
import java.net.InetAddress
import java.net.ServerSocket
import java.net.Socket
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

/** Two connected ends. `kill` ends `b` without a reason; it is null if the transport does not support that. */
class Connected(val a: ChannelTransport, val b: ChannelTransport, val kill: (() -> Unit)? = null)

/** The contract of every transport for channels. */
abstract class TransportContract {
    protected val limit = 1 shl 20

    abstract fun connect(limits: TransportLimits): Connected

    private val atA = Log()
    private val atB = Log()

    private fun withEnds(open: Boolean = true, run: Connected.() -> Unit) {
        val ends = connect(TransportLimits(limit))
        if (open) {
            ends.a.open(atA)
            ends.b.open(atB)
        }
        try {
            ends.run()
        } finally {
            ends.a.close(CloseReason.CLOSED)
            ends.b.close(CloseReason.CLOSED)
        }
    }

    private fun assertFrames(expected: List<ByteArray>, frames: List<ByteArray>) {
        assertEquals(expected.size, frames.size)
        for ((at, each) in expected.withIndex()) assertArrayEquals(each, frames[at])
    }

    @Test
    fun `carries frames whole and in order, both ways`() = withEnds {
        for (index in 0 until 200) {
            a.send(pattern(index, index))
            b.send(pattern(index, index + 7))
        }
        assertFrames(List(200) { pattern(it, it) }, atB.count(200))
        assertFrames(List(200) { pattern(it, it + 7) }, atA.count(200))
    }

    @Test
    fun `carries frames of every size up to its limit, small ones between large ones`() = withEnds {
        val sizes = listOf(0, 1, 7, 8, 9, 253, 254, 255, 256, 4096, 65535, 65536, 65537, limit - 1, limit)
        val sent = sizes.flatMap { listOf(it, 3) }
        for (size in sent) a.send(pattern(size, size))
        assertFrames(sent.map { pattern(it, it) }, atB.count(sent.size))
    }

    @Test
    fun `keeps the frames that come before the sink`() =
        withEnds(open = false) {
            a.open(atA)
            for (index in 0 until 10) a.send(pattern(10, index))
            b.open(atB)
            assertFrames(List(10) { pattern(10, it) }, atB.count(10))
        }

    @Test fun `refuses a second sink`() = withEnds { assertThrows(IllegalStateException::class.java) { a.open(Log()) } }

    @Test
    fun `refuses a frame over its limit, and goes on`() = withEnds {
        assertEquals(limit, a.frameBytesMax)
        assertThrows(IllegalArgumentException::class.java) { a.send(ByteArray(limit + 1)) }
        a.send(pattern(3))
        assertFrames(listOf(pattern(3)), atB.count(1))
    }

    @Test
    fun `lets the sink send and answer from within a frame`() = withEnds {
        atB.onFrame = { b.send(byteArrayOf((it[0] + 1).toByte())) }
        atA.onFrame = { if (it[0] < 20) a.send(byteArrayOf((it[0] + 1).toByte())) }
        a.send(byteArrayOf(1))
        atA.until { frames.lastOrNull()?.get(0)?.toInt() == 20 }
        assertEquals((2..20 step 2).toList(), atA.frames.map { it[0].toInt() })
    }

    @Test
    fun `says when too much waits, takes it all the same, and says when there is room`() =
        withEnds(open = false) {
            a.open(atA)
            var sent = 0
            var room = true
            while (room && sent < 10_000) room = a.send(pattern(60_000, sent++))
            assertFalse(room)
            // There may be room already: a transport passes some frames to the system before the other end reads.
            a.send(pattern(60_000, sent++))
            b.open(atB)
            atA.until { drains > 0 }
            assertEquals(List(sent) { it.toByte() }, atB.count(sent).map { it[0] })
            // Each refusal is followed by one word that there is room, at most.
            assertTrue(atA.drains in 1..2)
            assertTrue(a.send(pattern(3)))
        }

    @Test
    fun `delivers no frame while it is paused, beyond those it has read, and all of them after`() =
        withEnds(open = false) {
            a.open(atA)
            b.pause()
            b.open(atB)
            for (index in 0 until 50) a.send(pattern(60_000, index))
            // The paused end can still send.
            b.send(pattern(3))
            atA.count(1)
            assertTrue(atB.frames.size <= 1)
            b.resume()
            assertEquals(List(50) { it.toByte() }, atB.count(50).map { it[0] })
        }

    @Test
    fun `tells the end while it is paused`() = withEnds {
        b.pause()
        a.close(CloseReason.CLOSED)
        atA.end()
        b.close(CloseReason.CLOSED)
        atB.end()
    }

    @Test
    fun `delivers what was sent before close(), then tells both ends the reason, once`() = withEnds {
        for (index in 0 until 50) a.send(pattern(2000, index))
        val reason = CloseReason(CloseCode.PROTOCOL, "enough of it")
        a.close(reason)
        a.close(CloseReason(CloseCode.CLOSED, "again"))
        assertEquals(listOf(reason, reason), listOf(atA.end(), atB.end()))
        assertEquals(50, atB.frames.size)
        assertEquals(listOf(1, 1), listOf(atA.reasons.size, atB.reasons.size))
    }

    @Test
    fun `drops what is sent after the end, without a word`() = withEnds {
        a.close(CloseReason.CLOSED)
        assertFalse(a.send(pattern(3)))
        atA.end()
        atB.end()
        assertFalse(b.send(pattern(3)))
        assertEquals(listOf(0, 0), listOf(atA.frames.size, atB.frames.size))
    }

    @Test
    fun `tells a sink that comes after the end`() =
        withEnds(open = false) {
            a.close(CloseReason.CLOSED)
            a.open(atA)
            assertEquals(CloseCode.CLOSED, atA.end().code)
        }

    @Test
    fun `can be closed by both ends at once, from within a frame as well`() = withEnds {
        atB.onFrame = {
            a.close(CloseReason.CLOSED)
            b.close(CloseReason.CLOSED)
        }
        a.send(pattern(1))
        a.send(pattern(2))
        atA.end()
        atB.end()
        assertEquals(1, atB.frames.size)
    }

    @Test
    fun `tells an end whose other end is gone`() = withEnds {
        kill?.let {
            it()
            assertEquals(CloseCode.LOST, atA.end().code)
            assertTrue(atB.reasons.size < 2)
        }
    }
}

/** A sink that records the calls of its transport and lets a test wait for them. */
class Log : ChannelSink {
    private val lock = ReentrantLock()
    private val changed = lock.newCondition()
    val frames = ArrayList<ByteArray>()
    val reasons = ArrayList<CloseReason>()
    var drains = 0
    /** Called for each frame, after the frame was recorded. */
    @Volatile var onFrame: (ByteArray) -> Unit = {}

    override fun frame(frame: ByteArray) {
        lock.withLock {
            check(reasons.isEmpty()) { "a frame after the end" }
            frames += frame
            changed.signalAll()
        }
        onFrame(frame)
    }

    override fun drained(): Unit =
        lock.withLock {
            drains++
            changed.signalAll()
        }

    override fun closed(reason: CloseReason): Unit =
        lock.withLock {
            reasons += reason
            changed.signalAll()
        }

    /** Waits until the condition holds. Throws TimeoutException after 60 s, because the condition may never hold. */
    fun until(met: Log.() -> Boolean): Unit =
        lock.withLock {
            while (!met()) if (!changed.await(60, TimeUnit.SECONDS)) throw TimeoutException("still waiting")
        }

    fun count(count: Int): List<ByteArray> {
        until { frames.size >= count }
        return lock.withLock { frames.toList() }
    }

    fun end(): CloseReason {
        until { reasons.isNotEmpty() }
        return reasons[0]
    }
}

/** Returns bytes that depend on their position and on `seed`, so that mixed-up bytes are noticed. */
fun pattern(size: Int, seed: Int = 1): ByteArray = ByteArray(size) { (it * 31 + seed).toByte() }

class MemoryTransportTest : TransportContract() {
    override fun connect(limits: TransportLimits): Connected {
        val (a, b) = MemoryTransport.pair(limits)
        return Connected(a, b)
    }
}

class StreamTransportTest : TransportContract() {
    override fun connect(limits: TransportLimits): Connected {
        val (a, b) = sockets()
        return Connected(transport(a, limits), transport(b, limits)) { b.close() }
    }

    private fun transport(socket: Socket, limits: TransportLimits) =
        StreamTransport.of(socket.getInputStream(), HalfClosing(socket), limits)

    private fun sockets(): Pair<Socket, Socket> =
        ServerSocket(0, 1, InetAddress.getLoopbackAddress()).use { server ->
            val a = Socket(server.inetAddress, server.localPort)
            Pair(a, server.accept())
        }

    /** The output of a socket. Its `close` ends only the output and leaves the socket open, as with a pipe. */
    private class HalfClosing(private val socket: Socket) : java.io.FilterOutputStream(socket.getOutputStream()) {
        override fun write(bytes: ByteArray, from: Int, count: Int) = out.write(bytes, from, count)

        override fun close() = socket.shutdownOutput()
    }
}

class FrameReaderTest {
    private val frames = ArrayList<ByteArray>()
    private val ends = ArrayList<CloseReason>()

    private fun reader(bytesMax: Int) = FrameReader(bytesMax, frames::add, ends::add)

    @Test
    fun `a header takes no memory for the body that it promises`() {
        // The announced bodies together exceed the heap of these tests more than ten times.
        val readers = List(100) { reader(64 shl 20) }
        for (each in readers) each.push(streamHeader(64 shl 20), STREAM_HEADER_BYTES)
        assertTrue(readers.all { it.inside } && ends.isEmpty())
    }

    @Test
    fun `bodies around the sizes at which their memory grows arrive whole, in pieces of any size`() {
        for (size in listOf(0, 1, 65_535, 65_536, 65_537, 1 shl 20, (1 shl 20) + 1, 3_000_001)) {
            for (piece in listOf(7_919, 65_536, 5_000_000)) {
                frames.clear()
                val reader = reader(1 shl 22)
                val whole = streamHeader(size) + pattern(size) + streamHeader(3) + pattern(3)
                for (at in whole.indices step piece) {
                    val part = whole.copyOfRange(at, minOf(whole.size, at + piece))
                    reader.push(part, part.size)
                }
                assertEquals(2, frames.size, "size=$size piece=$piece")
                assertArrayEquals(pattern(size), frames[0])
                assertArrayEquals(pattern(3), frames[1])
            }
        }
    }
}

class DaemonThreadsTest {
    @Test
    fun `a thread inherits nothing from the thread that creates it`() {
        val thread = inheritsNothing(DaemonThreads::class.java) { run -> DaemonThreads("test-").newThread(run) }
        assertEquals("test-1", thread.name)
    }
}

/** Runs the test vectors of spec/vectors, which are the same for every language. */
class VectorsTest {
    private fun vectors(name: String): Map<*, *> =
        Codecs.JSON.decode(File("../../spec/vectors/$name").readBytes()) as Map<*, *>

    private fun each(vectors: Map<*, *>, list: String, test: (Map<*, *>) -> Unit): List<DynamicTest> =
        (vectors[list] as List<*>).map { dynamicTest("${(it as Map<*, *>)["name"]}") { test(it) } }

    @TestFactory
    fun `streams of bytes`(): List<DynamicTest> {
        val vectors = vectors("stdio.json")
        return each(vectors, "streams") { stream ->
            val bytes = fromHex(stream["hex"] as String)
            for (pieces in listOf(1, 3, bytes.size + 1)) {
                val frames = ArrayList<String>()
                val ends = ArrayList<CloseReason>()
                val reader = FrameReader(vectors["frameBytesMax"] as Int, { frames += toHex(it) }, { ends += it })
                for (piece in bytes.toList().chunked(pieces)) reader.push(piece.toByteArray(), piece.size)
                assertEquals(stream["frames"], frames)
                assertEquals((stream["end"] as Map<*, *>?)?.get("code"), ends.singleOrNull()?.code?.code)
                if (ends.isEmpty()) assertEquals(stream["inside"], reader.inside)
            }
        }
    }

    @TestFactory
    fun frames(): List<DynamicTest> =
        each(vectors("channel.json"), "frames") { vector ->
            val parts = vector["parts"] as Map<*, *>
            val hex = vector["hex"] as String
            val frame = readFrame(fromHex(hex))
            // Attachments outside of a frame exist only on transports that move memory. The JVM has no such transport.
            if (parts["beside"] != null) assertNull(frame)
            else {
                checkNotNull(frame)
                assertEquals(number(parts["op"]), frame.op.toLong())
                assertEquals(
                    listOf("a", "b", "c").map { number(parts[it]) },
                    listOf(frame.a, frame.b, frame.c.toLong()),
                )
                val inside =
                    frame.attachments.map { toHex(ByteArray(it.remaining()).apply { it.duplicate().get(this) }) }
                assertEquals(parts["inside"] ?: emptyList<Any?>(), inside)
                if (inside.isEmpty()) assertEquals(hex, toHex(write(frame)))
            }
        }

    @TestFactory
    fun `bytes that are no frames`(): List<DynamicTest> =
        each(vectors("channel.json"), "refused") { assertNull(readFrame(fromHex(it["hex"] as String))) }

    private fun number(value: Any?) = (value as Number?)?.toLong() ?: 0L

    private fun write(frame: Frame): ByteArray {
        val name = ByteArray(frame.name.remaining()).apply { frame.name.duplicate().get(this) }
        val body = ByteArray(frame.body.remaining()).apply { frame.body.duplicate().get(this) }
        return writeFrame(Head(frame.op, frame.flags, frame.id, frame.a, frame.b, frame.c), name, body)
    }
}
