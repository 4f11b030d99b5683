// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import java.io.ByteArrayOutputStream
import java.lang.foreign.MemorySegment
import java.lang.foreign.ValueLayout.JAVA_BYTE
import java.lang.foreign.ValueLayout.JAVA_INT
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.file.Files
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/** Tests with the example plugins that every host loads (native/plugins/README.md), in C and in Rust. */
@NeedsPlugins
class ExamplesTest {
    private fun example(language: String, name: String = "example"): Plugin {
        val path = Built.example(language, name)
        assumeTrue(Files.exists(path), "the example plugin in $language was not built")
        return Plugin.load(path)
    }

    @ParameterizedTest
    @ValueSource(strings = ["c", "rust"])
    fun `memset in four ways - by method, by what both sides see, by lent memory, and by memory of its own`(
        language: String
    ) {
        example(language).use { plugin ->
            val size = 100_000
            val message =
                byteArrayOf(7, 6) + "memset".toByteArray() + 12 + 2 + 8 + sized(size) + ByteArray(size) + value(9)
            plugin.channel("memset/method").call(message).use { answer ->
                assertTrue(checkNotNull(answer.toByteArray()).takeLast(size).all { it == 9.toByte() })
            }
            plugin.allocate(size.toLong()).use { memory ->
                plugin.channel("memset/shared").call(Payload.of(byteArrayOf(7)), listOf(memory))
                assertEquals(-1, memory.segment.mismatch(MemorySegment.ofArray(ByteArray(size) { 7 })))
            }
            val mine = ByteBuffer.allocateDirect(size)
            plugin.lend(mine).use { plugin.channel("memset/shared").call(Payload.of(byteArrayOf(5)), listOf(it)) }
            assertEquals(5, mine.get(size - 1))
            val held = longs(size.toLong(), 3, 2)
            plugin.channel("memset/held").send(held).join().use { assertEquals(8, it.size) }
            assertEquals(0, plugin.stats().leaked)
        }
    }

    @ParameterizedTest
    @ValueSource(strings = ["c", "rust"])
    fun `echo in every place, and by the host's own channel`(language: String) {
        example(language).use { plugin ->
            plugin.handle("echo/host") { message -> message.memory ?: message.toByteArray()?.let { Payload.of(it) } }
            for (name in listOf("echo", "echo/pool", "echo/serial", "echo/back")) {
                for (size in listOf(0, 3, 63, 64, 5000, 1 shl 20)) {
                    val bytes = ByteArray(size) { it.toByte() }
                    plugin.channel(name).send(bytes).join().use { assertArrayEquals(bytes, it.toByteArray()) }
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = ["c", "rust"])
    fun `the sensor tells all its readings in order, frames come in memory that goes back`(language: String) {
        example(language).use { plugin ->
            val readings = plugin.channel("sensor").listen(ListenOptions().arguments(map("rate" to 0, "count" to 2000)))
            val numbers = readings.map { it.segment?.get(java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED, 0) }
            assertEquals(List(2000) { it.toLong() }, numbers.map { checkNotNull(it) - checkNotNull(numbers[0]) })
            val arguments = map("rate" to 0, "width" to 320, "height" to 200)
            plugin.channel("frames").listen(ListenOptions().arguments(arguments).latest()).use { frames ->
                var last = -1
                repeat(20) {
                    checkNotNull(frames.take()).use { frame ->
                        val segment = checkNotNull(frame.segment)
                        assertEquals(320L * 200 * 4, segment.byteSize())
                        assertEquals(0x31464c43, segment.get(JAVA_INT, 0))
                        assertTrue(segment.get(JAVA_INT, 4) > last)
                        last = segment.get(JAVA_INT, 4)
                    }
                }
            }
            assertEquals(0, plugin.stats().leaked)
        }
    }

    @ParameterizedTest
    @ValueSource(strings = ["c", "rust"])
    fun `the filter changes pixels where they are, and one that blocks holds nobody up`(language: String) {
        example(language).use { plugin ->
            val blocked = plugin.channel("block").send(int32s(100))
            plugin.allocate(4L * 4 * 4).use { pixels ->
                pixels.segment.fill(10)
                val what = map("width" to 4, "height" to 4, "filter" to "negative")
                plugin.channel("image/filter").send(Payload.of(what), listOf(pixels)).join()
                assertEquals(245.toByte(), pixels.segment.get(JAVA_BYTE, 0))
            }
            assertTrue(blocked.join().isNull)
        }
    }

    @ParameterizedTest
    @ValueSource(strings = ["c", "rust"])
    fun `a plugin that misbehaves is refused, and the host lives on`(language: String) {
        example(language, "misbehave").use { plugin ->
            for (name in listOf("garbage/status", "garbage/length", "garbage/memory", "garbage/null", "reply/twice")) {
                codeOf { plugin.channel(name).call().close() }
                codeOf { plugin.channel(name).send().join().close() }
            }
            assertEquals(PluginErrorCode.BAD_ANSWER, codeOf { plugin.channel("garbage/status").call() })
            assertEquals(PluginErrorCode.NOT_DIRECT, codeOf { plugin.channel("reply/never").call() })
            codeOf { plugin.channel("reply/thread").send().join() }
            val events = plugin.channel("events/after-end").listen()
            codeOf { for (event in events) event.close() }
            if (language == "rust") assertEquals(PluginErrorCode.PANICKED, codeOf { plugin.channel("panic").call() })
        }
        example(language).use { assertTrue(it.channel("echo").call().isNull) }
    }

    // The functions below encode values as the standard codec does (spec/wire.md).

    private fun value(number: Int): ByteArray = byteArrayOf(3) + int32s(number)

    private fun text(text: String): ByteArray = byteArrayOf(7) + sized(text.length) + text.toByteArray()

    private fun sized(size: Int): ByteArray =
        if (size < 254) byteArrayOf(size.toByte()) else byteArrayOf(-1) + int32s(size)

    private fun map(vararg entries: Pair<String, Any>): ByteArray {
        val out = ByteArrayOutputStream()
        out.write(byteArrayOf(13, entries.size.toByte()))
        for ((key, what) in entries) {
            out.write(text(key))
            out.write(if (what is Int) value(what) else text(what.toString()))
        }
        return out.toByteArray()
    }

    private fun longs(vararg numbers: Long): ByteArray {
        val buffer = ByteBuffer.allocate(8 * numbers.size).order(ByteOrder.LITTLE_ENDIAN)
        for (number in numbers) buffer.putLong(number)
        return buffer.array()
    }
}
