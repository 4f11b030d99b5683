// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import java.lang.foreign.Arena
import java.lang.foreign.MemorySegment
import java.lang.foreign.ValueLayout.JAVA_BYTE
import java.nio.ByteBuffer
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

@NeedsPlugins
class MemoryTest {
    @ParameterizedTest
    @EnumSource(ViewKind::class)
    fun `the bytes are there, the ledger says how, and after the release they are an error`(kind: ViewKind) {
        open(PluginOptions().views(kind)).use { plugin ->
            val before = live(plugin)
            val answer = plugin.channel("make").call(int32s(10_000))
            assertArrayEquals(ByteArray(10_000) { 7 }, answer.toByteArray())
            assertEquals(10_000, plugin.stats().ledger.fromNative.sharedBytes)
            assertEquals(0, plugin.stats().ledger.fromNative.copiedBytes)
            val segment = checkNotNull(answer.segment)
            val part = segment.asSlice(5, 10)
            val buffer = checkNotNull(answer.buffer)
            assertTrue(buffer.isDirect)
            assertEquals(7, buffer.get(9_999))
            answer.close()
            answer.close()
            backTo(before, plugin)
            assertEquals(true, answer.memory?.released)
            assertEquals(PluginErrorCode.RELEASED, codeOf { answer.segment })
            assertThrows(IllegalStateException::class.java) { segment.get(JAVA_BYTE, 0) }
            assertThrows(IllegalStateException::class.java) { part.get(JAVA_BYTE, 0) }
            assertThrows(IllegalStateException::class.java) { buffer.get(0) }
        }
    }

    @Test
    fun `a shared view is read on another thread, a confined one is not`() {
        for (kind in ViewKind.entries) {
            open(PluginOptions().views(kind)).use { plugin ->
                plugin.allocate(64).use { memory ->
                    val segment = memory.segment
                    var problem: Throwable? = null
                    val other = Thread {
                        try {
                            segment.fill(9)
                        } catch (thrown: WrongThreadException) {
                            problem = thrown
                        }
                    }
                    other.start()
                    other.join()
                    if (kind == ViewKind.CONFINED) assertNotNull(problem)
                    else plugin.channel("echo").call(memory).use { assertEquals(9, it.segment?.get(JAVA_BYTE, 63)) }
                }
            }
        }
    }

    @Test
    fun `native memory is filled by Java and handed over without a copy`() = probe { plugin ->
        plugin.allocate(8192).use { memory ->
            memory.segment.fill(3)
            assertSame(memory.segment, memory.segment)
            plugin.channel("pool/fill").send(memory).join()
            assertEquals(4, memory.buffer.get(100))
            val ledger = plugin.stats().ledger.toNative
            assertEquals(listOf(0L, 8192L), listOf(ledger.copiedBytes, ledger.sharedBytes))
        }
    }

    @Test
    fun `the view of sealed memory is read-only, also as an attachment and as an answer to itself`() = probe { plugin ->
        plugin.channel("make/sealed").call(int32s(8192)).use { sealed ->
            val segment = checkNotNull(sealed.segment)
            assertTrue(segment.isReadOnly)
            assertTrue(checkNotNull(sealed.buffer).isReadOnly)
            val memory = checkNotNull(sealed.memory)
            plugin.channel("echo").call(memory).use { assertTrue(checkNotNull(it.segment).isReadOnly) }
            plugin.channel("pool/echo").send(null, listOf(memory)).join().use {
                assertTrue(checkNotNull(it.attachments.single().segment).isReadOnly)
            }
        }
        plugin.channel("make").call(int32s(8192)).use { assertEquals(false, it.segment?.isReadOnly) }
    }

    @Test
    fun `an echo of native memory is another holder of the same bytes`() = probe { plugin ->
        val memory = plugin.allocate(1 shl 20)
        for (answer in listOf(plugin.channel("echo").call(memory), plugin.channel("pool/echo").send(memory).join())) {
            answer.segment?.fill(5)
            assertEquals(5, memory.segment.get(JAVA_BYTE, 77))
            answer.close()
        }
        memory.close()
        assertEquals(0, plugin.stats().ledger.fromNative.copiedBytes)
        assertEquals(PluginErrorCode.RELEASED, codeOf { plugin.channel("echo").call(memory) })
        assertEquals(PluginErrorCode.RELEASED, codeOf { plugin.channel("pool/echo").send(memory).join() })
        assertEquals(PluginErrorCode.RELEASED, codeOf { plugin.channel("echo").call(null, listOf(memory)) })
    }

    @Test
    fun `memory of no bytes is memory`() = probe { plugin ->
        plugin.allocate(0).use { assertEquals(0, it.segment.byteSize()) }
        plugin.channel("make").call(int32s(0)).use { assertEquals(0, it.segment?.byteSize()) }
    }

    @Test
    fun `memories beside a message arrive, and go along`() = probe { plugin ->
        plugin.channel("attach").call().use { answer ->
            assertArrayEquals(byteArrayOf(3), answer.toByteArray())
            val along = answer.attachments.map { it.size to it.segment?.get(JAVA_BYTE, 0)?.toInt() }
            assertEquals(listOf(16L to 1, 8192L to 2), along)
        }
        val one = plugin.allocate(5000)
        one.segment.fill(6)
        val lent = plugin.lend(java.nio.ByteBuffer.allocateDirect(3).put(0, 8))
        plugin.channel("echo").call(Payload.of(byteArrayOf(1)), listOf(one, lent)).use { back ->
            assertEquals(listOf(6, 8), back.attachments.map { it.segment?.get(JAVA_BYTE, 0)?.toInt() })
            assertSame(lent.segment, back.attachments[1].segment)
        }
        plugin.channel("pool/echo").send(null, listOf(one)).join().use { later ->
            assertTrue(later.segment == null)
            assertEquals(6, later.attachments[0].segment?.get(JAVA_BYTE, 4999))
        }
        assertEquals(PluginErrorCode.TOO_LARGE, codeOf { plugin.channel("echo").call(null, List(33) { one }) })
        lent.close()
        one.close()
    }

    @Test
    fun `memory that nobody releases is collected, and counted as leaked`() = probe { plugin ->
        val before = live(plugin)
        repeat(20) { plugin.channel("make").call(int32s(8192)).segment }
        collect { plugin.stats().leaked == 20L }
        backTo(before, plugin)
    }

    @Test
    fun `a view outlives the memory's object that nobody released`() = probe { plugin ->
        val view: MemorySegment = checkNotNull(plugin.channel("make").call(int32s(8192)).segment)
        repeat(20) { plugin.channel("make").call(int32s(8192)).segment }
        collect { plugin.stats().leaked == 20L }
        assertEquals(-1, view.mismatch(MemorySegment.ofArray(ByteArray(8192) { 7 })))
    }

    @Test
    fun `memory that is out when the plugin closes stays until its release`() {
        val plugin = open()
        val answer = plugin.channel("make").call(int32s(8192))
        plugin.close()
        assertEquals(7, answer.segment?.get(JAVA_BYTE, 1))
        answer.close()
        assertEquals(PluginErrorCode.RELEASED, codeOf { answer.segment })
    }

    @Test
    fun `sizes that cannot be are refused`() = probe { plugin ->
        assertEquals(PluginErrorCode.INVALID_ARGUMENT, codeOf { plugin.allocate(-1) })
        assertEquals(PluginErrorCode.TOO_LARGE, codeOf { plugin.allocate(1L shl 50) })
        assertNull(plugin.channel("null").call().segment)
    }
}

@NeedsPlugins
class LentTest {
    @Test
    fun `an echo of it is the very view, with nothing copied`() = probe { plugin ->
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

    @Test
    fun `4096 bytes and more are lent for a call by themselves, fewer are copied`() = probe { plugin ->
        val large = direct(4096)
        val small = direct(4095).fill(2)
        val echo = plugin.channel("pool/echo")
        assertSame(large, echo.send(Payload.of(large)).join().segment)
        echo.send(Payload.of(small)).join().use { assertEquals(-1, small.mismatch(it.segment)) }
        assertEquals(mapOf(CopyReason.SMALL to 1L), plugin.stats().ledger.toNative.copies)
    }

    @Test
    fun `memory that somebody could close is copied by send, and cannot be lent`() = probe { plugin ->
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

    @Test
    fun `native code keeps and writes to it until it gives it back, and then it has returned`() = probe { plugin ->
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

    @Test
    fun `memory that Java has forgotten is there for native code all the same`() = probe { plugin ->
        val lent = plugin.lend(direct(1 shl 20))
        plugin.channel("keep").call(lent)
        repeat(20) { plugin.channel("make").call(int32s(8192)) }
        collect { plugin.stats().leaked >= 20L } // garbage was collected meanwhile
        plugin.channel("drop").call()
        lent.close()
        lent.returned.join()
        assertEquals(99, lent.segment.get(JAVA_BYTE, 0))
    }

    @Test
    fun `a loan that was ended is an error in every call, and ending it again is none`() = probe { plugin ->
        val lent = plugin.lend(direct(8))
        lent.close()
        lent.close()
        assertEquals(PluginErrorCode.RELEASED, codeOf { plugin.channel("echo").call(lent) })
        assertEquals(PluginErrorCode.RELEASED, codeOf { plugin.channel("echo").send(lent).join() })
        lent.returned.join()
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
    fun `a part of memory comes back as that part`() = probe { plugin ->
        val part = direct(10_000).asSlice(100, 8_900)
        assertSame(part, plugin.channel("pool/echo").send(Payload.of(part)).join().segment)
    }

    @Test
    fun `bytes that were only lent for a direct call cannot be kept`() = probe { plugin ->
        assertEquals(PluginErrorCode.FAILED, codeOf { plugin.channel("keep").call(Payload.of(direct(8))) })
    }

    private fun direct(size: Int): MemorySegment = MemorySegment.ofBuffer(ByteBuffer.allocateDirect(size))
}
