// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.coroutines

import clearway.executor.AdaptiveExecutor
import java.util.concurrent.CountDownLatch
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.runInterruptible
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class AwaitMapAllTest {
    private val executor = AdaptiveExecutor(processors = 2, elasticMax = 16)
    private val site = executor.site("maps")

    @AfterEach
    fun close() {
        executor.shutdownNow()
        executor.close()
    }

    @Test
    fun `the results are in the order of the items, and the coroutine's thread runs none of them`() = runBlocking {
        val caller = Thread.currentThread()
        val items = List(1000) { it }
        val results = executor.awaitMapAll(site, items) { if (Thread.currentThread() === caller) -1 else it }
        assertEquals(items, results)
        assertEquals(emptyList<Int>(), executor.awaitMapAll(site, emptyList<Int>()) { it })
    }

    @Test
    fun `other coroutines of the same thread run while the items run`() = runBlocking {
        val both = CountDownLatch(2)
        val results =
            List(2) {
                async {
                    executor.awaitMapAll(site, listOf(it)) { item ->
                        item.also {
                            both.countDown()
                            both.await()
                        }
                    }
                }
            }
        assertEquals(listOf(listOf(0), listOf(1)), results.awaitAll())
    }

    @Test
    fun `an exception of an item reaches the coroutine`() {
        class Broken : RuntimeException("broken")
        assertThrows(Broken::class.java) { runBlocking { executor.awaitMapAll(site, listOf(1)) { throw Broken() } } }
    }

    @Test
    fun `a cancelled coroutine ends when the running items have ended, and no further item begins`() = runBlocking {
        val begun = CountDownLatch(2)
        val count = AtomicInteger()
        val running = AtomicInteger()
        val items = List(100) { it }
        val job =
            launch(Dispatchers.Default) {
                executor.awaitMapAll(site, items) {
                    count.incrementAndGet()
                    running.incrementAndGet()
                    begun.countDown()
                    try {
                        CountDownLatch(1).await()
                    } finally {
                        running.decrementAndGet()
                    }
                }
            }
        runInterruptible(Dispatchers.IO) { begun.await() }
        job.cancelAndJoin()
        assertEquals(0, running.get())
        assertTrue(count.get() < items.size)
    }

    @Test
    fun `a coroutine that is cancelled already starts no items`() = runBlocking {
        val ran = AtomicInteger()
        val outcome = CompletableDeferred<Throwable?>()
        val job =
            launch(Dispatchers.Default) {
                coroutineContext[kotlinx.coroutines.Job]!!.cancel()
                outcome.complete(
                    runCatching { executor.awaitMapAll(site, listOf(1)) { ran.incrementAndGet() } }.exceptionOrNull()
                )
            }
        assertTrue(outcome.await() is CancellationException)
        job.join()
        assertFalse(ran.get() > 0)
    }

    @Test
    fun `a call after the shutdown is refused`() {
        executor.shutdown()
        assertThrows(RejectedExecutionException::class.java) {
            runBlocking { executor.awaitMapAll(site, listOf(1)) { it } }
        }
    }

    @Test
    fun `a coroutine that goes on gets no CancellationException when shutdownNow or an item cancels its work`() {
        val begun = CountDownLatch(1)
        val stops = thread {
            begun.await()
            executor.shutdownNow()
        }
        val work: List<suspend () -> Any?> =
            listOf(
                { executor.awaitMapAll(site, listOf(1)) { throw CancellationException("the item's") } },
                { executor.awaitCall(site) { throw CancellationException("the block's") } },
                {
                    executor.awaitMapAll(site, listOf(1)) {
                        begun.countDown()
                        CountDownLatch(1).await()
                    }
                },
            )
        for (each in work) assertThrows(RejectedExecutionException::class.java) { runBlocking { each() } }
        stops.join()
    }
}
