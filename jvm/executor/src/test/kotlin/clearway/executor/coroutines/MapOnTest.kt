// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.coroutines

import clearway.executor.AdaptiveExecutor
import clearway.executor.Hanging
import clearway.executor.SiteOptions
import clearway.executor.WithExecutor
import clearway.executor.fuzzRuns
import clearway.executor.fuzzSeed
import java.io.IOException
import java.util.Random
import java.util.concurrent.CountDownLatch
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.async
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.flow.onEach
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.runInterruptible
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Tests the flows `mapOn` and `mapOnAsFinished`. */
class MapOnTest : WithExecutor(elasticMax = 16) {
    private val site = executor.site("flows")

    /** Maps in both forms. */
    private fun <T, R> Flow<T>.both(window: Int = 64, transform: (T) -> R): List<Flow<R>> =
        listOf(mapOn(executor, site, window, transform), mapOnAsFinished(executor, site, window, transform))

    @Test
    fun `mapOn emits the results in the order of the values, and the collector's thread runs none of them`() =
        runBlocking {
            val caller = Thread.currentThread()
            // #region map-on
            val thumbnails = executor.site("thumbnails")
            val images = (1..200).asFlow()
            val small = images.mapOn(executor, thumbnails, window = 8) { image -> shrink(image) }
            // #endregion map-on
            assertEquals((1..200).toList(), small.toList())
            assertEquals(listOf(false), flowOf(1).mapOn(executor, site) { Thread.currentThread() === caller }.toList())
        }

    private fun shrink(image: Int) = image

    @Test
    fun `mapOnAsFinished emits every result, and the first one that is there first`() = runBlocking {
        val last = CountDownLatch(1)
        val flow = flowOf(0, 1).mapOnAsFinished(executor, site) { if (it == 0) last.await().let { _ -> 0 } else it }
        assertEquals(listOf(1, 0), flow.onEach { last.countDown() }.toList())
        assertEquals((1..200).toSet(), (1..200).asFlow().mapOnAsFinished(executor, site) { it }.toList().toSet())
    }

    @Test
    fun `a slow collector slows the source down`() = runBlocking {
        val pulled = AtomicInteger()
        val source = flow { while (true) emit(pulled.incrementAndGet()) }
        for (mapped in source.both(window = 3) { it }) {
            pulled.set(0)
            var taken = 0
            mapped.take(50).collect {
                taken++
                // The window, and the value that waits for room in it.
                assertTrue(pulled.get() <= taken + 3, "pulled=${pulled.get()} taken=$taken")
            }
        }
    }

    @Test
    fun `the first exception fails the flow, and the running tasks are interrupted and have ended`() {
        val running = AtomicInteger()
        val waiting = CountDownLatch(2)
        for (mapped in
            flowOf(0, 1).both {
                running.incrementAndGet()
                waiting.countDown()
                try {
                    if (it == 1) waiting.await().let { throw IOException("broken") }
                    CountDownLatch(1).await()
                } finally {
                    running.decrementAndGet()
                }
            }) {
            assertThrows(IOException::class.java) { runBlocking { mapped.toList() } }
            assertEquals(0, running.get())
        }
    }

    @Test
    fun `an exception of the source fails the flow`() {
        for (thrown in listOf(IOException("source"), CancellationException("source"))) {
            for (mapped in flow<Int> { throw thrown }.both { it }) {
                assertThrows(thrown.javaClass) { runBlocking { mapped.toList() } }
            }
        }
    }

    @Test
    fun `a cancelled collector interrupts the running tasks, and ends when they have ended`() = runBlocking {
        for (number in 0..1) {
            val task = Hanging()
            val mapped = flowOf(1).both { task.run() }[number]
            val job = launch(Dispatchers.Default) { mapped.collect() }
            runInterruptible(Dispatchers.IO) { task.begun.await() }
            job.cancelAndJoin()
            assertEquals(0, task.running.get())
        }
    }

    @Test
    fun `a flow is refused after the shutdown, and its window is checked`() {
        for (window in listOf(0, 65_537)) {
            val thrown =
                assertThrows(IllegalArgumentException::class.java) { flowOf(1).mapOn(executor, site, window) { it } }
            assertEquals("window must be from 1 to 65536: window=$window", thrown.message)
        }
        executor.shutdown()
        for (mapped in flowOf(1).both { it }) {
            assertThrows(RejectedExecutionException::class.java) { runBlocking { mapped.toList() } }
        }
    }

    @Test
    fun `a flow fails, and does not end early, when shutdownNow drops its tasks`() {
        for (number in 0..1) {
            val own = AdaptiveExecutor(processors = 2, elasticMax = 2)
            val ordered = own.site("ordered", SiteOptions().ordered())
            val first = Hanging()
            own.callAsync(ordered) { first.run() }
            first.begun.await()
            val source = flow {
                emit(1)
                repeat(10) { yield() } // Coroutines of the same thread submit the task, which waits for its turn.
                assertEquals(1L, own.status().tasksWaiting)
                own.shutdownNow()
            }
            val mapped = listOf(source.mapOn(own, ordered) { it }, source.mapOnAsFinished(own, ordered) { it })[number]
            assertThrows(RejectedExecutionException::class.java) { runBlocking { mapped.toList() } }
            own.close()
        }
    }

    @Test
    fun `awaitCall returns the result of one task, or throws its exception`() = runBlocking {
        assertEquals(1, executor.awaitCall(site) { 1 })
        val thrown = runCatching { executor.awaitCall<Int>(site) { throw IOException("broken") } }.exceptionOrNull()
        assertTrue(thrown is IOException)
    }

    @Test
    fun `a cancelled awaitCall interrupts its task, and ends when the task has ended`() = runBlocking {
        val task = Hanging()
        val job = launch(Dispatchers.Default) { executor.awaitCall(site) { task.run() } }
        runInterruptible(Dispatchers.IO) { task.begun.await() }
        job.cancelAndJoin()
        assertEquals(0, task.running.get())
    }

    @Test
    fun `awaitSettleAll returns the values and all failures`() = runBlocking {
        val results = executor.awaitSettleAll(site, listOf(0, 1, 2)) { if (it == 1) throw IOException("$it") else it }
        assertEquals(listOf(true, false, true), results.map { it.isSuccess })
        assertEquals("1", results[1].failure?.message)
        assertEquals(2, results[2].value)
    }
}

/**
 * Runs batches of coroutines and coroutines of a dispatcher in random orders of cancellations and ends. Every coroutine
 * must complete. `CLEARWAY_FUZZ_RUNS` sets the number of orders, and `CLEARWAY_FUZZ_SEED` the seed of the first one.
 */
class OrdersTest {
    private fun play(seed: Long) = runBlocking {
        val random = Random(seed)
        val executor = AdaptiveExecutor(processors = 1 + random.nextInt(2), elasticMax = 1 + random.nextInt(8))
        val sites = listOf(executor.site("any"), executor.site("other"))
        val scope = CoroutineScope(SupervisorJob() + Dispatchers.Default)
        val started = ArrayList<Deferred<Any?>>()
        fun item(number: Int) =
            when (number % 5) {
                0 -> throw IllegalStateException("item")
                1 -> Thread.sleep(1)
                else -> Unit
            }
        repeat(20) {
            val site = sites[random.nextInt(sites.size)]
            val first = random.nextInt(100)
            when (random.nextInt(10)) {
                in 0..3 -> {
                    val items = List(random.nextInt(8)) { first + it }
                    started += scope.async { executor.awaitMapAll(site, items, ::item) }
                }
                in 4..6 ->
                    started +=
                        scope.async(executor.asDispatcher(site)) {
                            yield()
                            item(first)
                            delay(1)
                        }
                in 7..8 -> if (started.isNotEmpty()) started[random.nextInt(started.size)].cancel()
                else -> yield()
            }
        }
        when (random.nextInt(3)) {
            0 -> scope.cancel()
            // A coroutine that waits to be resumed belongs to the caller of `shutdownNow` from then on.
            1 -> executor.shutdownNow().forEach(Runnable::run)
        }
        for (each in started) withTimeout(60_000) { each.join() }
        scope.cancel()
        executor.shutdownNow().forEach(Runnable::run)
        executor.close()
        assertTrue(executor.isTerminated, "seed=$seed")
    }

    @Test
    fun `every coroutine completes, in any order of batches, cancellations and shutdowns`() {
        val first = fuzzSeed(1)
        val runs = fuzzRuns(25)
        println("orders=$runs seed=$first")
        for (seed in first until first + runs) play(seed)
    }
}
