// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin.coroutines

import clearway.plugin.ListenOptions
import clearway.plugin.Message
import clearway.plugin.NeedsPlugins
import clearway.plugin.Payload
import clearway.plugin.Plugin
import clearway.plugin.PluginErrorCode
import clearway.plugin.PluginException
import clearway.plugin.backTo
import clearway.plugin.int32s
import clearway.plugin.live
import clearway.plugin.numberIn
import clearway.plugin.open
import java.util.Random
import java.util.concurrent.CountDownLatch
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.buffer
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

@NeedsPlugins
class PluginCoroutinesTest {
    /** Runs a test on real threads with the probe plugin, and checks that it leaves no native memory and no source. */
    private fun loaded(test: suspend CoroutineScope.(Plugin) -> Unit): Unit =
        runBlocking(Dispatchers.Default) {
            withTimeout(100_000) {
                open().use { plugin ->
                    val before = live(plugin)
                    test(plugin)
                    backTo(before, plugin)
                    assertEquals(0, plugin.stats().leaked)
                    while (plugin.stats().native.getValue("streams") > 0) yield()
                    while (plugin.stats().native.getValue("calls") > 0) yield()
                }
            }
        }

    private fun Plugin.ticks(count: Int, size: Int, items: Int = 16): Flow<Message> =
        channel("ticks").asFlow(ListenOptions().arguments(int32s(count, size, 0)).items(items))

    private suspend fun codeThrownBy(act: suspend () -> Any?): PluginErrorCode {
        try {
            act()
        } catch (failed: PluginException) {
            return failed.code
        }
        error("nothing was thrown")
    }

    @Test
    fun `a call returns the answer, from the pool and from a direct handler`() = loaded { plugin ->
        assertArrayEquals(int32s(7), plugin.channel("pool/echo").awaitSend(int32s(7)).toByteArray())
        assertEquals(8, numberIn(plugin.channel("echo").awaitSend(Payload.of(int32s(8)))))
    }

    @Test
    fun `a failed call throws the plugin's code`() = loaded { plugin ->
        assertEquals(PluginErrorCode.FAILED, codeThrownBy { plugin.channel("pool/fail").awaitSend() })
        assertEquals(PluginErrorCode.NO_HANDLER, codeThrownBy { plugin.channel("nowhere").awaitSend() })
        assertEquals(PluginErrorCode.NO_HANDLER, codeThrownBy { plugin.channel("nowhere").asFlow().toList() })
    }

    @Test
    fun `a coroutine that is cancelled sends nothing`() = loaded { plugin ->
        val before = plugin.stats().native.getValue("messages")
        val cancelled =
            launch(start = CoroutineStart.UNDISPATCHED) {
                coroutineContext[Job]?.cancel()
                plugin.channel("null").awaitSend()
            }
        cancelled.join()
        assertEquals(before, plugin.stats().native.getValue("messages"))
    }

    @Test
    fun `an answer that arrives when its coroutine is cancelled is released`() = loaded { plugin ->
        val random = Random(1)
        repeat(System.getenv("CLEARWAY_FUZZ_RUNS")?.toInt() ?: 125) {
            val job = launch { plugin.channel("pool/make").awaitSend(int32s(100_000)).close() }
            repeat(random.nextInt(40)) { yield() }
            job.cancelAndJoin()
        }
    }

    @Test
    fun `an answer that arrived before the dispatch of its cancelled coroutine is released`() = loaded { plugin ->
        val block = CountDownLatch(1)
        val blocked = CompletableDeferred<Unit>()
        val one = Dispatchers.Default.limitedParallelism(1)
        val call = launch(one) { plugin.channel("pool/make").awaitSend(int32s(100_000)).close() }
        // The answer waits for this thread. When the thread is free, the call's coroutine is cancelled.
        val holder =
            launch(one) {
                blocked.complete(Unit)
                block.await()
            }
        blocked.await()
        while (plugin.stats().native.getValue("calls") > 0) yield()
        call.cancel()
        block.countDown()
        call.join()
        holder.join()
    }

    @Test
    fun `a flow collects all events in order, releases each one, and ends`() = loaded { plugin ->
        assertEquals(List(20_000) { it }, plugin.ticks(20_000, 16, 64).map(::numberIn).toList())
        var most = 0L
        plugin.ticks(50, 1 shl 20, 2).collect { most = maxOf(most, live(plugin)) }
        // One event is with the collector, 2 may wait on each side, and the source fills one.
        assertTrue(most <= 6, "memories=$most")
    }

    @Test
    fun `an event that an operator keeps beyond its collector is released, and says so`() = loaded { plugin ->
        val kept = plugin.ticks(3, 1 shl 20).buffer(8).toList()
        assertEquals(PluginErrorCode.RELEASED, codeThrownBy { kept.first().segment })
        assertEquals(listOf(0, 1, 2), plugin.ticks(3, 1 shl 20).map(::numberIn).buffer(8).toList())
    }

    @Test
    fun `a collector that hangs gets no more than the window`() = loaded { plugin ->
        val hangs = CompletableDeferred<Unit>()
        val collector = launch {
            plugin.ticks(0, 16, 8).collect {
                hangs.complete(Unit)
                awaitCancellation()
            }
        }
        hangs.await()
        plugin.channel("pool/block").awaitSend(int32s(5))
        assertTrue(plugin.stats().native.getValue("events") <= 8 + 8)
        collector.cancelAndJoin()
    }

    @Test
    fun `a collector that throws, stops or is cancelled at any event leaves nothing behind`() = loaded { plugin ->
        val before = live(plugin)
        for (at in 0..30) {
            var thrown: Throwable? = null
            try {
                plugin.ticks(0, 8192, 1 + at % 5).collect {
                    if (numberIn(it) == at) throw IllegalStateException("mine")
                }
            } catch (mine: IllegalStateException) {
                thrown = mine
            }
            assertEquals("mine", thrown?.message)
            assertEquals(at + 1, plugin.ticks(0, 8192).take(at + 1).map(::numberIn).toList().size)
            launch { plugin.ticks(0, 8192).collect { if (numberIn(it) == at) coroutineContext[Job]?.cancel() } }.join()
            backTo(before, plugin)
        }
    }

    @Test
    fun `a collector that is cancelled at a random moment leaves nothing behind`() = loaded { plugin ->
        val random = Random(2)
        repeat(System.getenv("CLEARWAY_FUZZ_RUNS")?.toInt() ?: 75) {
            val job = launch {
                plugin.ticks(0, 8192, 1 + random.nextInt(8)).collect { if (random.nextBoolean()) yield() }
            }
            repeat(random.nextInt(40)) { yield() }
            job.cancelAndJoin()
        }
    }

    @Test
    fun `closing the plugin ends calls and flows with closed`() =
        runBlocking<Unit>(Dispatchers.Default) {
            val plugin = open()
            val began = CompletableDeferred<Unit>()
            val code = CompletableDeferred<PluginErrorCode>()
            launch { code.complete(codeThrownBy { plugin.ticks(0, 16).collect { began.complete(Unit) } }) }
            began.await()
            plugin.close()
            assertEquals(PluginErrorCode.CLOSED, code.await())
            assertEquals(PluginErrorCode.CLOSED, codeThrownBy { plugin.channel("null").awaitSend() })
        }
}
