// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
import java.lang.foreign.ValueLayout.JAVA_BYTE
import java.nio.ByteBuffer
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Test

@NeedsPlugins
class LentTest {
    @Test
    fun `an echo of it is the very view, with nothing copied`() {
        open().use { plugin ->
            for (segment in listOf(Arena.ofAuto().allocate(1 shl 20), direct(1 shl 20), Arena.global().allocate(64))) {
                val lent = plugin.lend(segment)
                assertSame(segment, plugin.channel("echo").call(lent).segment)
                assertSame(segment, plugin.channel("pool/echo").send(lent).join().segment)
                lent.close()
                lent.returned.join()
            }
            val ledger = plugin.stats().ledger
            assertEquals(listOf(0L, 0L), listOf(ledger.toNative.copiedBytes, ledger.fromNative.copiedBytes))
        }
    }

    @Test
    fun `4096 bytes and more are lent for a call by themselves, fewer are copied`() {
        open().use { plugin ->
            val large = direct(4096)
            val small = direct(4095).fill(2)
            val echo = plugin.channel("pool/echo")
            assertSame(large, echo.send(Payload.of(large)).join().segment)
            echo.send(Payload.of(small)).join().use { assertEquals(-1, small.mismatch(it.segment)) }
            assertEquals(mapOf(CopyReason.SMALL to 1L), plugin.stats().ledger.toNative.copies)
        }
    }

    @Test
    fun `memory that somebody could close is copied by send, and cannot be lent`() {
        open().use { plugin ->
            Arena.ofShared().use { arena ->
                val segment = arena.allocate(5000).fill(3)
                plugin.channel("pool/echo").send(Payload.of(segment)).join().use {
                    assertEquals(-1, segment.mismatch(it.segment))
                }
                assertEquals(PluginErrorCode.WOULD_COPY, codeOf { plugin.lend(segment) })
            }
            Arena.ofConfined().use { arena ->
                assertEquals(PluginErrorCode.WOULD_COPY, codeOf { plugin.lend(arena.allocate(8)) })
            }
            assertEquals(PluginErrorCode.WOULD_COPY, codeOf { plugin.lend(ByteBuffer.allocate(8)) })
            assertEquals(PluginErrorCode.WOULD_COPY, codeOf { plugin.lend(direct(8).asReadOnly()) })
            assertEquals(mapOf(CopyReason.NOT_KEPT to 1L), plugin.stats().ledger.toNative.copies)
        }
    }

    @Test
    fun `native code keeps and writes to it until it gives it back, and then it has returned`() {
        open().use { plugin ->
            val segment = direct(64)
            val lent = plugin.lend(segment)
            plugin.channel("keep").call(lent)
            lent.close()
            plugin.channel("pool/null").send().join()
            assertFalse(lent.returned.isDone)
            plugin.channel("drop").call()
            lent.returned.join()
            assertEquals(99, segment.get(JAVA_BYTE, 0))
        }
    }

    @Test
    fun `memory that Java has forgotten is there for native code all the same`() {
        open().use { plugin ->
            val lent = plugin.lend(direct(1 shl 20))
            plugin.channel("keep").call(lent)
            repeat(20) { plugin.channel("make").call(int32s(8192)) }
            collect { plugin.stats().leaked >= 20L } // garbage was collected meanwhile
            plugin.channel("drop").call()
            lent.close()
            lent.returned.join()
            assertEquals(99, lent.segment.get(JAVA_BYTE, 0))
        }
    }

    @Test
    fun `a loan that was ended is an error in every call, and ending it again is none`() {
        open().use { plugin ->
            val lent = plugin.lend(direct(8))
            lent.close()
            lent.close()
            assertEquals(PluginErrorCode.RELEASED, codeOf { plugin.channel("echo").call(lent) })
            assertEquals(PluginErrorCode.RELEASED, codeOf { plugin.channel("echo").send(lent).join() })
            lent.returned.join()
        }
    }

    @Test
    fun `a plugin that closes gives back what it kept`() {
        val plugin = open()
        val lent = plugin.lend(direct(8))
        plugin.channel("keep").call(lent)
        lent.close()
        plugin.close()
        lent.returned.join()
    }

    @Test
    fun `a loan that is out when the plugin closes comes back later, from another plugin, too`() {
        val one = open()
        open().use { two ->
            val lent = one.lend(direct(64))
            two.channel("keep").call(lent)
            lent.close()
            one.close()
            two.channel("drop").call()
            lent.returned.join()
            assertEquals(99, lent.segment.get(JAVA_BYTE, 0))
        }
    }

    @Test
    fun `a part of memory comes back as that part`() {
        open().use { plugin ->
            val part = direct(10_000).asSlice(100, 8_900)
            assertSame(part, plugin.channel("pool/echo").send(Payload.of(part)).join().segment)
        }
    }

    @Test
    fun `bytes that were only lent for a direct call cannot be kept`() {
        open().use { plugin ->
            assertEquals(PluginErrorCode.FAILED, codeOf { plugin.channel("keep").call(Payload.of(direct(8))) })
        }
    }

    private fun direct(size: Int): MemorySegment = MemorySegment.ofBuffer(ByteBuffer.allocateDirect(size))
}
