// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.coroutines

import clearway.executor.Hanging
import clearway.executor.WithExecutor
import java.util.concurrent.CountDownLatch
import java.util.concurrent.CyclicBarrier
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.runInterruptible
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class AdaptiveDispatcherTest : WithExecutor() {
    private val dispatcher = executor.asDispatcher(executor.site("coroutines"))

    @Test
    fun `a coroutine runs on a thread other than its caller's and returns its result`() = runBlocking {
        val caller = Thread.currentThread()
        assertNotSame(caller, withContext(dispatcher) { Thread.currentThread() })
    }

    @Test
    fun `coroutines that block on a common barrier all finish`() = runBlocking {
        // There are only two processors, so 20 blocking coroutines need elastic threads.
        val barrier = CyclicBarrier(20)
        val passed = List(20) { async(dispatcher) { barrier.await() } }.awaitAll()
        assertEquals((0 until 20).toSet(), passed.toSet())
    }

    @Test
    fun `delay holds no thread`() = runBlocking {
        val narrow = executor.asDispatcher(ordered)
        val first = CompletableDeferred<Unit>()
        val waits =
            launch(narrow) {
                first.complete(Unit)
                delay(Long.MAX_VALUE)
            }
        first.await()
        // This coroutine would never run if the delay held the thread.
        assertEquals("ran", withContext(narrow) { "ran" })
        waits.cancelAndJoin()
    }

    @Test
    fun `a coroutine resumes on the dispatcher after a delay`() = runBlocking {
        val threads =
            withContext(dispatcher) {
                delay(1)
                Thread.currentThread().name
            }
        assertFalse(threads.contains("DefaultExecutor"), threads)
    }

    @Test
    fun `a timeout cancels a delayed coroutine`() = runBlocking {
        assertNull(withTimeoutOrNull(1) { withContext(dispatcher) { delay(Long.MAX_VALUE) } })
    }

    @Test
    fun `coroutines of an ordered site run one at a time, in the order of their resumptions`() = runBlocking {
        val inOrder = executor.asDispatcher(ordered)
        val seen = ArrayList<Int>() // Needs no lock: the coroutines run in order.
        val inside = AtomicInteger()
        val all =
            List(200) { number ->
                launch(inOrder) {
                    assertEquals(1, inside.incrementAndGet())
                    seen += number
                    inside.decrementAndGet()
                    yield()
                    seen += number
                }
            }
        all.forEach { it.join() }
        assertEquals((0 until 200).toList(), seen.distinct())
        assertEquals(400, seen.size)
    }

    @Test
    fun `cancelling a coroutine that blocks interruptibly interrupts it, and its thread serves others`() = runBlocking {
        val blocks = Hanging()
        val job: Job = launch(dispatcher) { runInterruptible { blocks.run() } }
        withContext(dispatcher) { blocks.begun.await() }
        job.cancelAndJoin()
        assertTrue(job.isCancelled)
        assertFalse(withContext(dispatcher) { Thread.currentThread().isInterrupted })
    }

    @Test
    fun `an exception reaches the caller, and the executor continues to run work`() {
        assertThrows(IllegalStateException::class.java) {
            runBlocking { withContext(dispatcher) { error("from the coroutine") } }
        }
        assertEquals(1, runBlocking { withContext(dispatcher) { 1 } })
    }

    @Test
    fun `a coroutine is cancelled when the executor has ended`() {
        executor.shutdown()
        assertThrows(CancellationException::class.java) { runBlocking { withContext(dispatcher) { 1 } } }
    }

    @Test
    fun `close cancels a coroutine that loops on yield, and returns`() {
        val begun = CountDownLatch(1)
        val job =
            CoroutineScope(dispatcher).launch {
                while (true) {
                    begun.countDown()
                    yield()
                }
            }
        begun.await()
        executor.close()
        runBlocking { job.join() }
        assertTrue(job.isCancelled)
    }

    @Test
    fun `the executor serves other dispatchers when one dispatcher is closed`() {
        dispatcher.close()
        assertThrows(CancellationException::class.java) { runBlocking { withContext(dispatcher) { 1 } } }
        val other = executor.asDispatcher(executor.site("coroutines"))
        assertEquals(1, runBlocking { withContext(other) { 1 } })
    }
}

class AwaitMapAllTest : WithExecutor(elasticMax = 16) {
    private val site = executor.site("maps")

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
        val items = Hanging(2)
        val job = launch(Dispatchers.Default) { executor.awaitMapAll(site, List(100) { it }) { items.run() } }
        runInterruptible(Dispatchers.IO) { items.begun.await() }
        job.cancelAndJoin()
        assertEquals(0, items.running.get())
        assertTrue(items.calls.get() < 100)
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
        val item = Hanging()
        val stops = thread {
            item.begun.await()
            executor.shutdownNow()
        }
        val work: List<suspend () -> Any?> =
            listOf(
                { executor.awaitMapAll(site, listOf(1)) { throw CancellationException("the item's") } },
                { executor.awaitCall(site) { throw CancellationException("the block's") } },
                { executor.awaitMapAll(site, listOf(1)) { item.run() } },
            )
        for (each in work) assertThrows(RejectedExecutionException::class.java) { runBlocking { each() } }
        stops.join()
    }
}
