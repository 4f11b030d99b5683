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
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.TestFactory

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
