// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.coroutines

import clearway.executor.AdaptiveExecutor
import clearway.executor.SiteOptions
import java.util.concurrent.CountDownLatch
import java.util.concurrent.CyclicBarrier
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
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
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class AdaptiveDispatcherTest {
    private val executor = AdaptiveExecutor(processors = 2, elasticMax = 64)
    private val dispatcher = executor.asDispatcher(executor.site("coroutines"))

    @AfterEach
    fun close() {
        executor.shutdownNow()
        executor.close()
    }

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
        val narrow = executor.asDispatcher(executor.site("one at a time", SiteOptions().ordered()))
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
        val ordered = executor.asDispatcher(executor.site("ordered", SiteOptions().ordered()))
        val seen = ArrayList<Int>() // Needs no lock: the coroutines run in order.
        val inside = AtomicInteger()
        val all =
            List(200) { number ->
                launch(ordered) {
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
        val begun = CountDownLatch(1)
        val job: Job =
            launch(dispatcher) {
                runInterruptible {
                    begun.countDown()
                    CountDownLatch(1).await()
                }
            }
        withContext(dispatcher) { begun.await() }
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
