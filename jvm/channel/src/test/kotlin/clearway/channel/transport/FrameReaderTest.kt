// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

import clearway.channel.codec.Codecs
import clearway.channel.conformance.fromHex
import clearway.channel.conformance.toHex
import clearway.channel.wire.Frame
import clearway.channel.wire.Head
import clearway.channel.wire.readFrame
import clearway.channel.wire.writeFrame
import java.io.File
import java.net.URLClassLoader
import java.util.concurrent.CompletableFuture
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

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
        val inherited = InheritableThreadLocal<String>()
        val value = CompletableFuture<String?>()
        val made = CompletableFuture<Thread>()
        val app =
            Thread(ThreadGroup("app")) {
                inherited.set("app")
                made.complete(DaemonThreads("test-").newThread { value.complete(inherited.get()) })
            }
        app.contextClassLoader = URLClassLoader(emptyArray(), javaClass.classLoader)
        app.priority = Thread.MIN_PRIORITY
        app.start()
        val thread = made.join()
        assertEquals("test-1", thread.name)
        assertTrue(thread.isDaemon)
        assertEquals(DaemonThreads::class.java.classLoader, thread.contextClassLoader)
        assertEquals(Thread.NORM_PRIORITY, thread.priority)
        assertNotSame(app.threadGroup, thread.threadGroup)
        thread.start()
        assertEquals(null, value.join())
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
