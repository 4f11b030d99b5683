// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Tests [PluginEvents.read], which does not block. */
@NeedsPlugins
class ReadTest {
    private fun Plugin.ticks(count: Int, size: Int = 16, pauseMs: Int = 0) =
        channel("ticks").listen(ListenOptions().arguments(int32s(count, size, pauseMs)).items(8))

    private fun get(read: CompletableFuture<Message?>): Message? = read.get(60, TimeUnit.SECONDS)

    @Test
    fun `reads return the events in order and then null, also reads that began before their events`() {
        open().use { plugin ->
            val events = plugin.ticks(3000)
            val reads = List(3002) { events.read() }
            assertEquals(List(3000) { it }, reads.take(3000).map { numberIn(checkNotNull(get(it))) })
            assertNull(get(reads[3000]))
            assertNull(get(reads[3001]))
            assertTrue(events.ended)
        }
    }

    @Test
    fun `a cancelled read takes no event`() {
        open().use { plugin ->
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
    }

    @Test
    fun `closing the stream completes reads with null and releases the events`() {
        open().use { plugin ->
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
