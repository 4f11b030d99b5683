// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import java.lang.foreign.ValueLayout.JAVA_BYTE
import java.time.Duration
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

@NeedsPlugins
class EventsTest {
    private fun Plugin.ticks(options: ListenOptions) = channel("ticks").listen(options)

    @Test
    fun `arrive in order, none lost, and end`() {
        open().use { plugin ->
            val events = plugin.ticks(ListenOptions().arguments(int32s(5000, 16, 0)).items(32))
            assertEquals(List(5000) { it }, events.map(::numberIn))
            assertTrue(events.ended)
            assertNull(events.take())
        }
    }

    @Test
    fun `a million with credit, none lost, while calls go on`() {
        open().use { plugin ->
            val events = plugin.ticks(ListenOptions().arguments(int32s(1_000_000, 16, 0)).items(4096))
            var next = 0
            var lost = 0
            for (event in events) {
                lost += numberIn(event) - next
                next = numberIn(event) + 1
                if (next % 10_000 == 0) plugin.channel("null").call()
            }
            assertEquals(listOf(1_000_000, 0), listOf(next, lost))
            assertEquals(0, events.dropped)
        }
    }

    @Test
    fun `of 8 MB come as memory, nothing copied, and their slabs are used again when they are released`() {
        open().use { plugin ->
            val before = live(plugin)
            var count = 0
            for (frame in plugin.ticks(ListenOptions().arguments(int32s(50, 8 shl 20, 0)).items(2))) {
                frame.use { assertEquals(count.toByte(), it.segment?.get(JAVA_BYTE, 8_000_000)) }
                count++
            }
            assertEquals(50, count)
            val ledger = plugin.stats().ledger.fromNative
            assertEquals(listOf(0L, 50L * (8 shl 20)), listOf(ledger.copiedBytes, ledger.sharedBytes))
            backTo(before, plugin)
        }
    }

    @Test
    fun `who reads nothing gets no more than the window`() {
        open().use { plugin ->
            plugin.ticks(ListenOptions().arguments(int32s(0, 16, 0)).items(8)).use { events ->
                events.take()
                plugin.channel("pool/block").send(int32s(20)).join()
                assertTrue(plugin.stats().native.getValue("events") <= 8 + 8)
            }
        }
    }

    @Test
    fun `closing cancels the source, and releases what waits`() {
        open().use { plugin ->
            val before = live(plugin)
            plugin.ticks(ListenOptions().arguments(int32s(0, 8192, 0))).use { it.take()?.close() }
            while (numberIn(plugin.channel("cancels").call()) != 1) Thread.yield()
            backTo(before, plugin) // the event reader may still release an event
            assertEquals(0, plugin.stats().leaked)
        }
    }

    @Test
    fun `latest keeps only the newest, says how many were dropped, and goes forward`() {
        open().use { plugin ->
            val events = plugin.ticks(ListenOptions().arguments(int32s(20_000, 16, 0)).latest())
            val numbers = events.map(::numberIn)
            assertEquals(numbers.sorted().distinct(), numbers)
            assertEquals(19_999, numbers.last())
            assertEquals(20_000L, numbers.size + events.dropped)
        }
    }

    @Test
    fun `dropNewest keeps the oldest, and fail ends the stream with overflow`() {
        open().use { plugin ->
            val kept =
                plugin.ticks(ListenOptions().arguments(int32s(20_000, 16, 0)).items(4).whenFull(WhenFull.DROP_NEWEST))
            assertEquals(20_000L, kept.count() + kept.dropped)
            val failing = plugin.ticks(ListenOptions().arguments(int32s(0, 16, 0)).items(4).whenFull(WhenFull.FAIL))
            val code = codeOf { for (event in failing) plugin.channel("pool/block").send(int32s(1)).join() }
            assertEquals(PluginErrorCode.OVERFLOW, code)
            assertNull(failing.take())
        }
    }

    @Test
    fun `whoever waits for one wakes when the stream is closed, or the time is over`() {
        open().use { plugin ->
            val events = plugin.ticks(ListenOptions().arguments(int32s(1, 16, 0)))
            events.take()
            val quiet = plugin.ticks(ListenOptions().arguments(int32s(2, 16, 999_999)))
            quiet.take()
            assertNull(quiet.poll(Duration.ofNanos(1)))
            var taken: Message? = Message.NULL
            val reader = Thread { taken = quiet.take() }
            reader.start()
            while (reader.state != Thread.State.WAITING && reader.isAlive) Thread.yield()
            quiet.close()
            reader.join()
            assertTrue(taken == null || numberIn(checkNotNull(taken)) == 1)
        }
    }

    @Test
    fun `a source that refuses, and one that is not there, end with their status`() {
        open().use { plugin ->
            assertEquals(PluginErrorCode.INVALID_ARGUMENT, codeOf { plugin.channel("ticks").listen().take() })
            assertEquals(PluginErrorCode.NO_HANDLER, codeOf { plugin.channel("echo").listen() })
            assertEquals(PluginErrorCode.INVALID_ARGUMENT, codeOf { ListenOptions().items(0) })
            assertEquals(PluginErrorCode.INVALID_ARGUMENT, codeOf { ListenOptions().bytes(0) })
        }
    }
}

@NeedsPlugins
class AsksTest {
    @Test
    fun `a plugin's messages are answered by the handler of their channel, which may block and call back`() {
        open().use { plugin ->
            plugin.handle("probe/asked") { message ->
                plugin.channel("pool/echo").send(int32s(1)).join()
                Payload.of((message.toByteArray() ?: ByteArray(0)) + 4)
            }
            val answer = plugin.channel("ask").send(byteArrayOf(1, 2)).join()
            assertArrayEquals(byteArrayOf(1, 2, 4), answer.toByteArray())
        }
    }

    @Test
    fun `a handler that throws fails them, and without a handler they are refused`() {
        open().use { plugin ->
            assertEquals(PluginErrorCode.NO_HANDLER, codeOf { plugin.channel("ask").send().join() })
            plugin
                .handle("probe/asked") { throw IllegalStateException("not today") }
                .use {
                    assertEquals(PluginErrorCode.FAILED, codeOf { plugin.channel("ask").send().join() })
                    assertEquals(PluginErrorCode.INVALID_ARGUMENT, codeOf { plugin.handle("probe/asked") { null } })
                }
            assertEquals(PluginErrorCode.NO_HANDLER, codeOf { plugin.channel("ask").send().join() })
        }
    }

    @Test
    fun `a large one comes and goes without a copy, and its memory is released behind the handler`() {
        open().use { plugin ->
            val before = live(plugin)
            plugin.handle("probe/asked") { it.memory }
            val memory = plugin.allocate(100_000)
            memory.segment.fill(5)
            plugin.channel("ask").send(memory).join().use { assertEquals(5, it.segment?.get(JAVA_BYTE, 99_999)) }
            memory.close()
            backTo(before, plugin) // the plugin's pool thread releases its reference last
            assertEquals(0, plugin.stats().ledger.toNative.copiedBytes)
        }
    }

    @Test
    fun `the log listener receives what the plugin logs`() {
        val logged = java.util.concurrent.ConcurrentLinkedQueue<Pair<Int, String>>()
        open(PluginOptions().onLog { level, text -> logged.add(level to text) }).use { plugin ->
            plugin.channel("say").call("hello, Zoë".toByteArray())
            plugin.channel("pool/null").send().join()
        }
        assertEquals(listOf(1 to "hello, Zoë"), logged.toList())
    }
}
