// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import clearway.plugin.abi.Abi
import clearway.plugin.abi.Layout
import clearway.plugin.host.Loader
import clearway.plugin.host.PluginInstance
import clearway.plugin.host.Status
import java.lang.foreign.Arena
import java.nio.ByteBuffer
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.condition.EnabledForJreRange
import org.junit.jupiter.api.condition.JRE

@NeedsPlugins
class LoadTest {
    @Test
    fun `a plugin is loaded several times`() {
        open().use { one ->
            open().use { two ->
                assertEquals(Built.probe(), one.path)
                one.close()
                assertTrue(two.channel("null").call().isNull)
            }
        }
    }

    @Test
    fun `a file that is not there, or is no library, is load-failed, and the message says why`() {
        val gone = assertThrows(PluginException::class.java) { Plugin.load(Path.of("/nowhere/at/all.so")) }
        assertEquals(PluginErrorCode.LOAD_FAILED, gone.code)
        assertTrue("nowhere" in gone.message.orEmpty())
        assertEquals(PluginErrorCode.LOAD_FAILED, codeOf { Plugin.load(Path.of("target/probes/text.so")) })
    }

    @Test
    fun `a library without an init is not-a-plugin, one for another ABI is wrong-version`() {
        assertEquals(PluginErrorCode.NOT_A_PLUGIN, codeOf { Plugin.load(Built.probe("none")) })
        assertEquals(PluginErrorCode.WRONG_VERSION, codeOf { Plugin.load(Built.probe("old")) })
    }

    @Test
    fun `a plugin whose init refuses is init-failed, with what it said`() {
        val problem = assertThrows(PluginException::class.java) { Plugin.load(Built.probe("refuses")) }
        assertEquals(PluginErrorCode.INIT_FAILED, problem.code)
        assertTrue("the probe refuses" in problem.message.orEmpty())
    }

    @Test
    fun `a plugin whose reading thread cannot start is closed and freed`() {
        lateinit var opened: PluginInstance
        assertThrows(OutOfMemoryError::class.java) {
            Loader.Opener.open(
                Built.probe(),
                PluginOptions(),
                reading = { instance ->
                    opened = instance
                    throw OutOfMemoryError("no thread")
                },
            )
        }
        val stats = opened.arena.allocate(Layout.STATS_BYTES, 8)
        stats.set(Layout.LONG, Layout.STATS_SIZE, Layout.STATS_BYTES)
        assertEquals(Status.STALE.ordinal, Abi.pluginStats(opened.id, stats))
        assertEquals(Status.STALE.ordinal, Abi.waiterWake(opened.waiter))
    }

    @Test
    fun `options out of their range are refused before anything is loaded`() {
        assertEquals(PluginErrorCode.INVALID_ARGUMENT, codeOf { PluginOptions().threads(0) })
        assertEquals(PluginErrorCode.INVALID_ARGUMENT, codeOf { PluginOptions().callsMax(0) })
        assertEquals(PluginErrorCode.INVALID_ARGUMENT, codeOf { PluginOptions().closeMs(-1) })
    }
}

class RuntimeTest {
    @Test
    @EnabledForJreRange(max = JRE.JAVA_21)
    fun `on a JVM before 22 loading is refused, and says what is needed`() {
        val problem = assertThrows(PluginException::class.java) { Plugin.load(Path.of("x.so")) }
        assertEquals(PluginErrorCode.ADDON_MISSING, problem.code)
        assertEquals("native plugins need JDK 22 or newer: this is ${Runtime.version().feature()}", problem.message)
    }

    @Test
    fun `the statuses are those of clearway_h, in order`() {
        val header = Files.readString(root.resolve("native/include/clearway.h"))
        for (status in Status.entries) {
            assertTrue("#define CLEARWAY_${status.name} ${status.ordinal}\n" in header, status.name)
        }
    }

    @Test
    fun `the codes are those of spec_errors, in order`() {
        val page = Files.readString(root.resolve("spec/errors.md")).substringAfter("## Native plugins")
        val codes = Regex("^\\| `([a-z-]+)` \\|", RegexOption.MULTILINE).findAll(page).map { it.groupValues[1] }
        assertEquals(codes.toList(), PluginErrorCode.entries.map { it.code })
    }
}

@NeedsPlugins
class CallTest {
    @Test
    fun `null, no bytes and bytes are three different messages, there and back`() = probe { plugin ->
        val ways =
            listOf<(Payload?) -> Message>(
                { plugin.channel("echo").call(it) },
                { plugin.channel("echo").send(it).join() },
                { plugin.channel("pool/echo").send(it).join() },
            )
        for (way in ways) {
            assertTrue(way(null).isNull)
            val empty = way(Payload.of(ByteArray(0)))
            assertFalse(empty.isNull)
            assertEquals(0, empty.size)
            assertArrayEquals(byteArrayOf(1, 2, 3), way(Payload.of(byteArrayOf(1, 2, 3))).toByteArray())
            val large = ByteArray(10_000) { it.toByte() }
            way(Payload.of(large)).use { assertArrayEquals(large, it.toByteArray()) }
            way(Payload.of(ByteBuffer.allocateDirect(0))).use { assertFalse(it.isNull) }
        }
    }

    @Test
    fun `a direct handler writes to the caller's native memory, and to a part of it`() = probe { plugin ->
        val fill = plugin.channel("fill")
        val buffer = ByteBuffer.allocateDirect(64)
        buffer.put(8, 41).position(8).limit(16)
        fill.call(Payload.of(buffer))
        val all = ByteArray(64).also { buffer.clear().get(0, it) }
        assertArrayEquals(byteArrayOf(0, 42, 42, 42, 42, 42, 42, 42, 42, 0), all.copyOfRange(7, 17))
        Arena.ofConfined().use { arena ->
            val segment = arena.allocate(16)
            fill.call(Payload.of(segment))
            assertEquals(1, segment.get(java.lang.foreign.ValueLayout.JAVA_BYTE, 15))
            fill.call(Payload.of(segment.asReadOnly()))
            assertEquals(1, segment.get(java.lang.foreign.ValueLayout.JAVA_BYTE, 15))
        }
        assertEquals(mapOf(CopyReason.NOT_KEPT to 1L), plugin.stats().ledger.toNative.copies)
        val heap = ByteArray(16)
        fill.call(heap) // the handler fills a copy
        assertArrayEquals(ByteArray(16), heap)
        assertEquals(mapOf(CopyReason.NOT_KEPT to 1L, CopyReason.HEAP to 1L), plugin.stats().ledger.toNative.copies)
    }

    @Test
    fun `memory of an arena that was closed, or of another thread, is the JVM's own error`() = probe { plugin ->
        val arena = Arena.ofShared()
        val segment = arena.allocate(10_000)
        arena.close()
        assertThrows(IllegalStateException::class.java) { plugin.channel("echo").call(Payload.of(segment)) }
        assertThrows(IllegalStateException::class.java) { plugin.channel("pool/echo").send(Payload.of(segment)) }
        assertTrue(plugin.channel("echo").call().isNull)
    }

    @Test
    fun `call refuses handlers that run elsewhere or answer later, and those answers reach nobody`() = probe { plugin ->
        assertEquals(PluginErrorCode.NOT_DIRECT, codeOf { plugin.channel("pool/echo").call() })
        assertEquals(PluginErrorCode.NOT_DIRECT, codeOf { plugin.channel("never").call() })
        assertArrayEquals(int32s(1), plugin.channel("pool/echo").send(int32s(1)).join().toByteArray())
    }

    @Test
    fun `what a handler answers with comes as a typed error, in call and in send`() = probe { plugin ->
        val cases =
            mapOf(
                "fail" to PluginErrorCode.FAILED,
                "unknown" to PluginErrorCode.NOT_IMPLEMENTED,
                "nobody" to PluginErrorCode.NO_HANDLER,
            )
        for ((name, code) in cases) {
            assertEquals(code, codeOf { plugin.channel(name).call() })
            assertEquals(code, codeOf { plugin.channel(name).send().join() })
        }
        assertEquals(PluginErrorCode.FAILED, codeOf { plugin.channel("pool/fail").send().join() })
        val problem = assertThrows(PluginException::class.java) { plugin.channel("fail").call() }
        assertEquals("fail: the probe was asked to fail", problem.message)
        assertEquals(PluginErrorCode.INVALID_ARGUMENT, codeOf { plugin.channel("") })
        assertEquals(PluginErrorCode.INVALID_ARGUMENT, codeOf { plugin.channel("x".repeat(257)) })
    }

    @Test
    fun `a direct handler's answer is there when send returns`() = probe { plugin ->
        assertTrue(plugin.channel("null").send().isDone)
    }

    @Test
    fun `a serial queue keeps the order of what was sent`() = probe { plugin ->
        val order = java.util.concurrent.ConcurrentLinkedQueue<Int>()
        val block = plugin.channel("serial/block")
        val sent = listOf(5, 0, 3, 0, 1).map { ms -> block.send(int32s(ms)).thenAccept { order.add(numberIn(it)) } }
        for (each in sent) each.join()
        assertEquals(listOf(5, 0, 3, 0, 1), order.toList())
    }

    @Test
    fun `a handler that blocks the pool does not hold this thread up`() = probe { plugin ->
        val blocked = plugin.channel("pool/block").send(int32s(200))
        for (turn in 1..5) assertTrue(plugin.channel("null").call().isNull)
        assertEquals(200, numberIn(blocked.join()))
    }

    @Test
    fun `a call that is cancelled ends at once, and its answer is dropped`() = probe { plugin ->
        val sent = plugin.channel("pool/block").send(int32s(50))
        assertTrue(sent.cancel(true))
        assertThrows(CancellationException::class.java) { sent.join() }
        val late = plugin.channel("pool/block").send(int32s(50))
        assertTrue(late.completeExceptionally(IllegalStateException("left")))
        assertArrayEquals(int32s(1), plugin.channel("pool/echo").send(int32s(1)).join().toByteArray())
    }

    @Test
    fun `thousands of calls at once are all answered, each with its own`() = probe { plugin ->
        val echo = plugin.channel("pool/echo")
        val answers = List(5000) { echo.send(int32s(it)) }.map { it.join() }
        assertTrue(answers.withIndex().all { (at, message) -> numberIn(message) == at })
    }

    @Test
    fun `more calls than may be under way are refused as full, and the others are answered`() =
        probe(PluginOptions().callsMax(100)) { plugin ->
            val block = plugin.channel("serial/block")
            val sent = List(500) { at -> block.send(int32s(if (at == 0) 50 else 0)) }
            val codes = sent.map { codeOf { it.join() } }
            assertTrue(codes.count { it == null } >= 100)
            assertEquals(setOf(null, PluginErrorCode.FULL), codes.toSet())
        }

    @Test
    fun `closing fails what is under way and all that comes later`() {
        val plugin = open()
        val never = plugin.channel("never").send()
        val ticks = plugin.channel("ticks")
        val events = ticks.listen(ListenOptions().arguments(int32s(0, 16, 1000)))
        val direct = plugin.channel("null")
        direct.call()
        plugin.close()
        plugin.close()
        val closed = PluginErrorCode.CLOSED
        assertEquals(closed, codeOf { never.join() })
        assertEquals(closed, codeOf { for (event in events) event.close() })
        assertTrue(events.ended)
        assertEquals(closed, codeOf { direct.call() })
        assertEquals(closed, codeOf { direct.send().join() })
        assertEquals(closed, codeOf { plugin.allocate(1) })
        assertEquals(closed, codeOf { plugin.lend(ByteBuffer.allocateDirect(1)) })
        assertEquals(closed, codeOf { ticks.listen() })
        assertEquals(closed, codeOf { plugin.channel("null") })
        assertEquals(closed, codeOf { plugin.stats() })
    }

    @Test
    fun `closing says which handler it waited for in vain, and may be tried again`() {
        val plugin = open(PluginOptions().closeMs(0))
        val blocked = plugin.channel("pool/block").send(int32s(300))
        plugin.channel("pool/echo").send().join() // the pool now runs the blocked call
        var codes = emptyList<PluginErrorCode?>()
        while (codes.lastOrNull() != null || codes.isEmpty()) codes = codes + codeOf { plugin.close() }
        assertTrue(codes.dropLast(1).all { it == PluginErrorCode.CANCELLED })
        assertTrue(blocked.isDone)
    }
}

/** Tests [PluginEvents.read], which does not block. */
@NeedsPlugins
class ReadTest {
    private fun Plugin.ticks(count: Int, size: Int = 16, pauseMs: Int = 0) =
        channel("ticks").listen(ListenOptions().arguments(int32s(count, size, pauseMs)).items(8))

    private fun get(read: CompletableFuture<Message?>): Message? = read.get(60, TimeUnit.SECONDS)

    @Test
    fun `reads return the events in order and then null, also reads that began before their events`() =
        probe { plugin ->
            val events = plugin.ticks(3000)
            val reads = List(3002) { events.read() }
            assertEquals(List(3000) { it }, reads.take(3000).map { numberIn(checkNotNull(get(it))) })
            assertNull(get(reads[3000]))
            assertNull(get(reads[3001]))
            assertTrue(events.ended)
        }

    @Test
    fun `a cancelled read takes no event`() = probe { plugin ->
        val events = plugin.ticks(5000)
        var next = 0
        while (true) {
            val given = events.read()
            if (next % 2 == 0 && given.cancel(false)) assertFalse(given.complete(null))
            val message = (if (given.isCancelled) get(events.read()) else get(given)) ?: break
            assertEquals(next++, numberIn(message))
        }
        assertEquals(5000, next)
    }

    @Test
    fun `closing the stream completes reads with null and releases the events`() = probe { plugin ->
        val before = live(plugin)
        val events = plugin.ticks(0, 8192)
        get(events.read())?.close()
        events.close()
        assertNull(get(events.read()))
        val quiet = plugin.ticks(2, 16, 999_999)
        get(quiet.read())
        val waiting = quiet.read()
        quiet.close()
        get(waiting)?.let { assertEquals(1, numberIn(it)) } // the source may be faster than this thread
        backTo(before, plugin)
        assertEquals(0, plugin.stats().leaked)
    }

    @Test
    fun `one read gets the error of the stream, and later ones the end`() {
        val plugin = open()
        val events = plugin.ticks(0, 16, 999_999)
        val reads = List(3) { events.read() }
        reads[0].cancel(false)
        plugin.close()
        val after = List(20) { events.read() }
        val codes = (reads.drop(1) + after).mapNotNull { read -> codeOf { read.get(60, TimeUnit.SECONDS) } }
        assertEquals(listOf(PluginErrorCode.CLOSED), codes)
        assertNull(get(events.read()))
    }
}
