// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.plugin

import clearway.plugin.coroutines.asFlow
import clearway.plugin.coroutines.awaitSend
import clearway.plugin.host.Decoder
import clearway.plugin.host.Loader
import clearway.plugin.host.MemoryContext
import clearway.plugin.host.Scratch
import java.lang.foreign.MemorySegment
import java.lang.foreign.ValueLayout.JAVA_BYTE
import java.time.Duration
import java.util.Random
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
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
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

@NeedsPlugins
class EventsTest {
    private fun Plugin.ticks(options: ListenOptions) = channel("ticks").listen(options)

    @Test
    fun `arrive in order, none lost, and end`() = probe { plugin ->
        val events = plugin.ticks(ListenOptions().arguments(int32s(5000, 16, 0)).items(32))
        assertEquals(List(5000) { it }, events.map(::numberIn))
        assertTrue(events.ended)
        assertNull(events.take())
    }

    @Test
    fun `a million with credit, none lost, while calls go on`() = probe { plugin ->
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

    @Test
    fun `of 8 MB come as memory, nothing copied, and their slabs are used again when they are released`() =
        probe { plugin ->
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

    @Test
    fun `who reads nothing gets no more than the window`() = probe { plugin ->
        plugin.ticks(ListenOptions().arguments(int32s(0, 16, 0)).items(8)).use { events ->
            events.take()
            plugin.channel("pool/block").send(int32s(20)).join()
            assertTrue(plugin.stats().native.getValue("events") <= 8 + 8)
        }
    }

    @Test
    fun `closing cancels the source, and releases what waits`() = probe { plugin ->
        val before = live(plugin)
        plugin.ticks(ListenOptions().arguments(int32s(0, 8192, 0))).use { it.take()?.close() }
        while (numberIn(plugin.channel("cancels").call()) != 1) Thread.yield()
        backTo(before, plugin) // the event reader may still release an event
        assertEquals(0, plugin.stats().leaked)
    }

    @Test
    fun `latest keeps only the newest, says how many were dropped, and goes forward`() = probe { plugin ->
        val events = plugin.ticks(ListenOptions().arguments(int32s(20_000, 16, 0)).latest())
        val numbers = events.map(::numberIn)
        assertEquals(numbers.sorted().distinct(), numbers)
        assertEquals(19_999, numbers.last())
        assertEquals(20_000L, numbers.size + events.dropped)
    }

    @Test
    fun `dropNewest keeps the oldest, and fail ends the stream with overflow`() = probe { plugin ->
        val kept =
            plugin.ticks(ListenOptions().arguments(int32s(20_000, 16, 0)).items(4).whenFull(WhenFull.DROP_NEWEST))
        assertEquals(20_000L, kept.count() + kept.dropped)
        val failing = plugin.ticks(ListenOptions().arguments(int32s(0, 16, 0)).items(4).whenFull(WhenFull.FAIL))
        val code = codeOf { for (event in failing) plugin.channel("pool/block").send(int32s(1)).join() }
        assertEquals(PluginErrorCode.OVERFLOW, code)
        assertNull(failing.take())
    }

    @Test
    fun `whoever waits for one wakes when the stream is closed, or the time is over`() = probe { plugin ->
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

    @Test
    fun `a poll may wait for longer than a Long of nanoseconds, or for less than no time`() = probe { plugin ->
        val longest = Duration.ofSeconds(Long.MAX_VALUE)
        val events = plugin.ticks(ListenOptions().arguments(int32s(1, 16, 0)))
        assertEquals(0, events.poll(longest)?.let(::numberIn))
        assertNull(events.poll(longest))
        val quiet = plugin.ticks(ListenOptions().arguments(int32s(2, 16, 999_999)))
        quiet.take()
        assertNull(quiet.poll(longest.negated()))
    }

    @Test
    fun `reads that were cancelled behind one that waits are not kept`() = probe { plugin ->
        val quiet = plugin.ticks(ListenOptions().arguments(int32s(2, 16, 999_999)))
        quiet.take()
        quiet.read()
        repeat(10_000) { quiet.read().cancel(true) }
        val asking = PluginEvents::class.java.getDeclaredField("asking").apply { isAccessible = true }
        assertTrue((asking.get(quiet) as Collection<*>).size <= 2)
    }

    /** A decoder for which the JVM has no memory. */
    private class Failing(memories: MemoryContext) : Decoder(memories) {
        @Volatile var fails = true

        override fun message(events: MemorySegment, at: Long, scratch: Scratch): Message =
            if (fails) throw OutOfMemoryError("none left") else super.message(events, at, scratch)
    }

    @Test
    fun `what cannot be decoded fails its call, its stream or its request`() {
        lateinit var decoder: Failing
        Loader.Opener.open(Built.probe(), PluginOptions(), { memories -> Failing(memories).also { decoder = it } })
            .use { plugin ->
                fun sent(channel: String) = codeOf { plugin.channel(channel).send(int32s(1)).get(60, TimeUnit.SECONDS) }
                assertEquals(PluginErrorCode.OUT_OF_MEMORY, sent("pool/echo"))
                assertEquals(PluginErrorCode.OUT_OF_MEMORY, sent("echo"))
                val events = plugin.ticks(ListenOptions().arguments(int32s(0, 16, 0)))
                assertEquals(PluginErrorCode.OUT_OF_MEMORY, codeOf { events.take() })
                assertTrue(events.ended)
                plugin.handle("probe/asked") { null }
                assertEquals(PluginErrorCode.FAILED, sent("ask"))
                decoder.fails = false
                while (numberIn(plugin.channel("cancels").call()) != 1) Thread.yield()
                assertEquals(0, plugin.stats().native.getValue("calls"))
            }
    }

    @Test
    fun `a source that refuses, and one that is not there, end with their status`() = probe { plugin ->
        assertEquals(PluginErrorCode.INVALID_ARGUMENT, codeOf { plugin.channel("ticks").listen().take() })
        assertEquals(PluginErrorCode.NO_HANDLER, codeOf { plugin.channel("echo").listen() })
        assertEquals(PluginErrorCode.INVALID_ARGUMENT, codeOf { ListenOptions().items(0) })
        assertEquals(PluginErrorCode.INVALID_ARGUMENT, codeOf { ListenOptions().bytes(0) })
    }
}

@NeedsPlugins
class AsksTest {
    @Test
    fun `a plugin's messages are answered by the handler of their channel, which may block and call back`() =
        probe { plugin ->
            plugin.handle("probe/asked") { message ->
                plugin.channel("pool/echo").send(int32s(1)).join()
                Payload.of((message.toByteArray() ?: ByteArray(0)) + 4)
            }
            val answer = plugin.channel("ask").send(byteArrayOf(1, 2)).join()
            assertArrayEquals(byteArrayOf(1, 2, 4), answer.toByteArray())
        }

    @Test
    fun `a handler that throws fails them, and without a handler they are refused`() = probe { plugin ->
        assertEquals(PluginErrorCode.NO_HANDLER, codeOf { plugin.channel("ask").send().join() })
        plugin
            .handle("probe/asked") { throw IllegalStateException("not today") }
            .use {
                assertEquals(PluginErrorCode.FAILED, codeOf { plugin.channel("ask").send().join() })
                assertEquals(PluginErrorCode.INVALID_ARGUMENT, codeOf { plugin.handle("probe/asked") { null } })
            }
        assertEquals(PluginErrorCode.NO_HANDLER, codeOf { plugin.channel("ask").send().join() })
    }

    @Test
    fun `a large one comes and goes without a copy, and its memory is released behind the handler`() = probe { plugin ->
        val before = live(plugin)
        plugin.handle("probe/asked") { it.memory }
        val memory = plugin.allocate(100_000)
        memory.segment.fill(5)
        plugin.channel("ask").send(memory).join().use { assertEquals(5, it.segment?.get(JAVA_BYTE, 99_999)) }
        memory.close()
        backTo(before, plugin) // the plugin's pool thread releases its reference last
        assertEquals(0, plugin.stats().ledger.toNative.copiedBytes)
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
        // One event is with the collector, 2 may wait on each side, and the source fills one. The reader's thread may
        // not
        // have given its references to the last 2 back.
        assertTrue(most <= 8, "memories=$most")
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
