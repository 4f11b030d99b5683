// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import java.lang.foreign.MemorySegment
import java.nio.ByteBuffer
import java.util.concurrent.Callable
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors
import java.util.concurrent.Future
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

@NeedsPlugins
class ThreadsTest {
    private fun <T> inThreads(count: Int, run: (Int) -> T): List<T> {
        val threads = Executors.newFixedThreadPool(count)
        try {
            return List(count) { at -> threads.submit(Callable { run(at) }) }.map(Future<T>::get)
        } finally {
            threads.shutdown()
        }
    }

    @Test
    fun `many threads call, send, allocate and lend at once, each gets its own`() = probe { plugin ->
        val before = live(plugin)
        val echo = plugin.channel("echo")
        val pool = plugin.channel("pool/echo")
        inThreads(8) { thread ->
            for (at in 0 until 2000) {
                val own = int32s(thread, at)
                assertArrayEquals(own, echo.call(own).toByteArray())
                if (at % 10 == 0) assertArrayEquals(own, pool.send(own).join().toByteArray())
                if (at % 100 == 0) {
                    plugin.allocate(10_000).use { memory ->
                        memory.segment.fill(thread.toByte())
                        pool.send(memory).join().use { assertEquals(-1, memory.segment.mismatch(it.segment)) }
                    }
                    val lent = plugin.lend(ByteBuffer.allocateDirect(64))
                    echo.call(lent).close()
                    lent.close()
                    lent.returned.join()
                }
            }
        }
        backTo(before, plugin)
        assertEquals(0, plugin.stats().leaked)
    }

    /**
     * `make measure` evaluates the figure. The number of bytes depends on the allocations that the JIT compiler has
     * removed.
     */
    @Test
    @Tag("measure")
    fun `the bytes that a null call allocates are measured, on the thread that opened the plugin`() {
        val threads = java.lang.management.ManagementFactory.getThreadMXBean() as com.sun.management.ThreadMXBean
        open().use { plugin ->
            val echo = plugin.channel("echo")
            echo.call()
            val samples =
                List(6) {
                    val before = threads.currentThreadAllocatedBytes
                    repeat(1000) { echo.call() }
                    (threads.currentThreadAllocatedBytes - before) / 1000
                }
            // A call allocates 72 bytes before it is compiled.
            val limits = """"unit":"bytes","sense":"at most","limit":160"""
            println("""figure: {"name":"bytes allocated by a null call to a plugin",$limits,"samples":$samples}""")
        }
    }

    @Test
    fun `virtual threads call and send`() = probe { plugin ->
        Executors.newVirtualThreadPerTaskExecutor().use { threads ->
            val sums =
                List(500) { at ->
                    threads.submit(
                        Callable {
                            numberIn(plugin.channel("echo").call(int32s(at))) +
                                numberIn(plugin.channel("pool/echo").send(int32s(at)).join())
                        }
                    )
                }
            assertEquals(List(500) { 2 * it }, sums.map { it.get() })
        }
    }

    @Test
    fun `memory that one thread releases while others use it is an error to them, or there until they are done`() =
        probe { plugin ->
            val echo = plugin.channel("echo")
            val before = live(plugin)
            repeat(200) {
                val memory = plugin.allocate(4096)
                inThreads(3) { thread ->
                    if (thread == 0) memory.close()
                    else {
                        val code = codeOf { repeat(20) { echo.call(memory).close() } }
                        assertTrue(code == null || code == PluginErrorCode.RELEASED)
                    }
                }
            }
            backTo(before, plugin)
        }

    @Test
    fun `a plugin that closes under the hands of its callers fails them, and no call hangs`() {
        repeat(20) {
            val plugin = open()
            val closing = AtomicBoolean()
            val echo = plugin.channel("echo")
            val pool = plugin.channel("pool/echo")
            inThreads(4) { thread ->
                if (thread == 0) {
                    repeat(50) { pool.send(int32s(it)).join() }
                    closing.set(true)
                    plugin.close()
                } else {
                    val code = codeOf {
                        while (true) if (thread == 1) echo.call(int32s(1)).close()
                        else pool.send(int32s(1)).join().close()
                    }
                    assertEquals(PluginErrorCode.CLOSED, code)
                    assertTrue(closing.get())
                }
            }
        }
    }

    @Test
    fun `calls that meet the closing are refused, and the closing ends`() {
        repeat(100) {
            val plugin = open()
            val pool = plugin.channel("pool/echo")
            val ready = CountDownLatch(2)
            inThreads(3) { thread ->
                if (thread == 0) {
                    ready.await()
                    plugin.close()
                } else {
                    ready.countDown()
                    repeat(500) { pool.send(int32s(it)).handle { message, _ -> message?.close() } }
                    assertEquals(PluginErrorCode.CLOSED, codeOf { while (true) pool.send(int32s(1)).join().close() })
                }
            }
        }
    }

    @Test
    fun `two threads that close at once both return when one of them is the thread that completes answers`() {
        val plugin = open()
        val mayAnswer = CountDownLatch(1)
        val isReading = CountDownLatch(1)
        plugin.handle("probe/asked") {
            mayAnswer.await()
            null
        }
        val onReader =
            plugin.channel("ask").send(int32s(1)).thenAccept {
                isReading.countDown()
                // The other thread then waits for this one.
                while (codeOf { plugin.channel("echo") } == null) Thread.onSpinWait()
                plugin.close()
                it.close()
            }
        val closes =
            CompletableFuture.runAsync {
                isReading.await()
                plugin.close()
            }
        mayAnswer.countDown()
        for (each in listOf(onReader, closes)) each.get(60, TimeUnit.SECONDS)
    }
}

@NeedsPlugins
class LeaksTest {
    @Test
    fun `a hundred thousand messages of each kind leave no memory behind`() = probe { plugin ->
        val before = live(plugin)
        val echo = plugin.channel("echo")
        val make = plugin.channel("make")
        val pool = plugin.channel("pool/echo")
        val small = int32s(1)
        val large = MemorySegment.ofBuffer(ByteBuffer.allocateDirect(5000))
        val lent = plugin.lend(large)
        repeat(100_000) {
            echo.call(small).close()
            echo.call(lent).close()
        }
        repeat(20_000) { make.call(int32s(100)).close() }
        repeat(100) {
            val sent = List(200) { at -> if (at % 2 == 0) pool.send(small) else pool.send(Payload.of(large)) }
            for (each in sent) each.join().close()
        }
        lent.close()
        lent.returned.join()
        backTo(before, plugin)
        assertEquals(0, plugin.stats().leaked)
        assertEquals(0, plugin.stats().native.getValue("calls"))
    }
}
