// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.channel.Endpoint
import clearway.channel.ListenOptions as ChannelListenOptions
import clearway.channel.RemoteException
import clearway.channel.Reply
import clearway.channel.WhenFull
import clearway.channel.codec.Codecs
import clearway.channel.transport.MemoryTransport
import clearway.plugin.channel.PluginServer
import clearway.plugin.channel.ServedChannels
import java.io.ByteArrayOutputStream
import java.lang.foreign.MemorySegment
import java.lang.foreign.ValueLayout.JAVA_BYTE
import java.lang.foreign.ValueLayout.JAVA_INT
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.file.Files
import java.util.concurrent.CompletionException
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

/** Tests with the example plugins that every host loads (native/plugins/README.md), in C and in Rust. */
@NeedsPlugins
class ExamplesTest {
    private fun example(language: String, name: String = "example"): Plugin {
        val path = Built.example(language, name)
        assumeTrue(Files.exists(path), "the example plugin in $language was not built")
        return Plugin.load(path)
    }

    /** Runs a test with an example plugin in each language. */
    private fun inEach(name: String = "example", test: (language: String, Plugin) -> Unit): List<DynamicTest> =
        listOf("c", "rust").map { language ->
            dynamicTest(language) { example(language, name).use { plugin -> test(language, plugin) } }
        }

    @TestFactory
    fun `memset in four ways - by method, by what both sides see, by lent memory, and by memory of its own`() =
        inEach { _, plugin ->
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

    @TestFactory
    fun `echo in every place, and by the host's own channel`() = inEach { _, plugin ->
        plugin.handle("echo/host") { message -> message.memory ?: message.toByteArray()?.let { Payload.of(it) } }
        for (name in listOf("echo", "echo/pool", "echo/serial", "echo/back")) {
            for (size in listOf(0, 3, 63, 64, 5000, 1 shl 20)) {
                val bytes = ByteArray(size) { it.toByte() }
                plugin.channel(name).send(bytes).join().use { assertArrayEquals(bytes, it.toByteArray()) }
            }
        }
    }

    @TestFactory
    fun `the sensor tells all its readings in order, frames come in memory that goes back`() = inEach { _, plugin ->
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

    @TestFactory
    fun `the filter changes pixels where they are, and one that blocks holds nobody up`() = inEach { _, plugin ->
        val blocked = plugin.channel("block").send(int32s(100))
        plugin.allocate(4L * 4 * 4).use { pixels ->
            pixels.segment.fill(10)
            val what = map("width" to 4, "height" to 4, "filter" to "negative")
            plugin.channel("image/filter").send(Payload.of(what), listOf(pixels)).join()
            assertEquals(245.toByte(), pixels.segment.get(JAVA_BYTE, 0))
        }
        assertTrue(blocked.join().isNull)
    }

    @TestFactory
    fun `a plugin that misbehaves is refused, and the host lives on`() =
        inEach("misbehave") { language, plugin ->
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

@NeedsPlugins
class ServerTest {
    private fun served(plugin: Plugin, channels: ServedChannels, use: (Endpoint) -> Unit) {
        val (a, b) = MemoryTransport.pair()
        val both = listOf(Endpoint.connect(a), Endpoint.connect(b)).map { it.join() }
        PluginServer.serve(plugin, both[1], channels).use { use(both[0]) }
        both[0].terminate()
        both[1].closed.join()
    }

    private fun causeOf(run: () -> Unit): Throwable? = assertThrows(CompletionException::class.java) { run() }.cause

    @Test
    fun `a plugin at an endpoint answers messages, small and large, and the other end answers its own`() =
        probe { plugin ->
            val before = live(plugin)
            served(plugin, ServedChannels().messages("echo", "pool/echo", "pool/make", "ask").asks("probe/asked")) {
                here ->
                assertEquals(
                    mapOf("a" to listOf(1, 2)),
                    here.messages("echo").send(mapOf("a" to listOf(1, 2))).join().value,
                )
                assertEquals("text", here.messages("pool/echo").send("text").join().value)
                val made = here.messages("pool/make", Codecs.BINARY).send(int32s(100_000)).join().value
                assertArrayEquals(ByteArray(100_000) { 7 }, made)
                here.messages("probe/asked", Codecs.BINARY).handle { bytes, _ -> Reply.of((bytes ?: ByteArray(0)) + 9) }
                val asked = here.messages("ask", Codecs.BINARY).send(byteArrayOf(1)).join().value
                assertArrayEquals(byteArrayOf(1, 9), asked)
            }
            backTo(before, plugin)
            assertEquals(0, plugin.stats().leaked)
        }

    @Test
    fun `an answer without bytes reaches the plugin as the null message`() = probe { plugin ->
        served(plugin, ServedChannels().asks("probe/asked")) { here ->
            here.messages("probe/asked", Codecs.BINARY).handle { _, _ -> Reply.of(ByteArray(0)) }
            plugin.channel("ask").send(int32s(1)).join().use { assertTrue(it.isNull) }
        }
    }

    @Test
    fun `its handler learns that a call was cancelled, and ends it`() = probe { plugin ->
        val (a, b) = MemoryTransport.pair()
        val (here, there) = listOf(Endpoint.connect(a), Endpoint.connect(b)).map { it.join() }
        PluginServer.serve(plugin, there, ServedChannels().messages("pool/unwanted")).use {
            val sent = here.messages("pool/unwanted").send(1)
            while (there.stats().handling == 0) Thread.onSpinWait()
            sent.cancel(true)
            // The handler ends only then.
            while (there.stats().handling > 0) Thread.onSpinWait()
        }
        here.terminate()
        there.closed.join()
    }

    @Test
    fun `its failures are remote errors, and an unknown method is not implemented`() = probe { plugin ->
        served(plugin, ServedChannels().messages("fail", "unknown")) { here ->
            val failed = causeOf { here.messages("fail").send("x").join() } as RemoteException
            assertEquals("failed", failed.code)
            assertEquals("fail: the probe was asked to fail", failed.message)
            val unknown = causeOf { here.methods("unknown").call<Any>("anything").join() } as ChannelException
            assertEquals(ChannelError.NOT_IMPLEMENTED, unknown.error)
        }
    }

    @Test
    fun `its events reach the other end, and leaving them ends the source`() {
        val path = Built.example("c", "example")
        assumeTrue(Files.exists(path), "the example plugin in C was not built")
        Plugin.load(path).use { plugin ->
            served(plugin, ServedChannels().events("sensor", Codecs.BINARY)) { here ->
                val events = here.events("sensor").listen<ByteArray>(mapOf("rate" to 0, "count" to 500))
                assertEquals(500, events.use { all -> all.count { it.size == 24 } })
                here.events("sensor").listen<ByteArray>(mapOf("rate" to 0)).use { endless ->
                    assertEquals(24, endless.first().size)
                }
                while (plugin.stats().native.getValue("streams") > 0) Thread.yield()
            }
        }
    }

    @Test
    fun `its events go on after those that the listener's policy drops`() {
        val path = Built.example("c", "example")
        assumeTrue(Files.exists(path), "the example plugin in C was not built")
        Plugin.load(path).use { plugin ->
            served(plugin, ServedChannels().events("sensor", Codecs.BINARY)) { here ->
                val few = ChannelListenOptions().window(1).capacity(1).whenFull(WhenFull.DROP_NEWEST)
                val arguments = mapOf("rate" to 0, "count" to 5000)
                here.events("sensor").listen<ByteArray>(arguments, few).use { events ->
                    // The source ends only if no dropped event has ended it before.
                    while (plugin.stats().native.getValue("streams") > 0) Thread.yield()
                    assertTrue(events.count() >= 1)
                }
            }
        }
    }
}
