// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

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
