// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import java.io.IOException
import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutionException
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Tests `settleAll`, `settleAllAsync` and `callAsync`. */
class SettleTest {
    private val executor = AdaptiveExecutor(processors = 2, elasticMax = 4)
    private val site = executor.site("settles")
    private val ordered = executor.site("ordered", SiteOptions().ordered())

    @AfterEach
    fun close() {
        executor.shutdownNow()
        executor.close()
    }

    @Test
    fun `settleAll returns the values and all failures, in the order of the items`() {
        val broken = IOException("broken")
        val function = { item: Int -> if (item % 3 == 0) throw broken else if (item % 3 == 1) null else item }
        val items = List(100) { it }
        for (each in listOf(site, ordered)) {
            val later = executor.settleAllAsync(each, items, function)
            for (results in listOf(executor.settleAll(each, items, function), later.get(1, TimeUnit.MINUTES))) {
                assertEquals(items, results.map { it.index })
                for (result in results) {
                    if (result.index % 3 == 0) {
                        assertSame(broken, result.failure)
                        assertSame(broken, assertThrows(IOException::class.java) { result.value })
                    } else assertEquals(if (result.index % 3 == 1) null else result.index, result.value)
                    assertEquals(result.index % 3 != 0, result.isSuccess)
                }
            }
        }
    }

    @Test
    fun `settleAll throws InterruptedException when an item consumes an interrupt of the caller`() {
        val outcome = CompletableFuture<Throwable>()
        val caller = thread {
            try {
                executor.settleAll(ordered, List(100) { it }) { Thread.sleep(TimeUnit.MINUTES.toMillis(1)) }
                outcome.completeExceptionally(AssertionError("it returned"))
            } catch (thrown: Throwable) {
                outcome.complete(thrown)
            }
        }
        caller.interrupt()
        assertInstanceOf(InterruptedException::class.java, outcome.get(1, TimeUnit.MINUTES))
    }

    @Test
    fun `a cancelled settleAllAsync begins no further item`() {
        val began = CountDownLatch(1)
        val count = AtomicInteger()
        val future =
            executor.settleAllAsync(ordered, List(100) { it }) {
                count.incrementAndGet()
                began.countDown()
                CountDownLatch(1).await()
            }
        began.await()
        assertTrue(future.cancel(true))
        assertThrows(CancellationException::class.java) { future.get(1, TimeUnit.MINUTES) }
        assertEquals(1, count.get())
    }

    @Test
    fun `callAsync completes with the value or with the exception, as the same object`() {
        assertEquals(1, executor.callAsync(site) { 1 }.get(1, TimeUnit.MINUTES))
        val broken = IOException("broken")
        val future = executor.callAsync<Int>(site) { throw broken }
        assertSame(broken, assertThrows(ExecutionException::class.java) { future.get(1, TimeUnit.MINUTES) }.cause)
    }

    @Test
    fun `a cancelled callAsync drops a task that has not begun, and interrupts a running one`() {
        val began = CountDownLatch(1)
        val running =
            executor.callAsync(ordered) {
                began.countDown()
                CountDownLatch(1).await()
            }
        val ran = AtomicInteger()
        val waiting = executor.callAsync(ordered) { ran.incrementAndGet() }
        began.await()
        assertTrue(waiting.cancel(true))
        assertTrue(waiting.isCancelled)
        assertTrue(running.cancel(true))
        assertThrows(CancellationException::class.java) { running.get(1, TimeUnit.MINUTES) }
        assertEquals(0, ran.get())
        assertEquals(1, executor.callAsync(ordered) { 1 }.get(1, TimeUnit.MINUTES))
    }

    @Test
    fun `shutdownNow cancels a callAsync that has not begun, and a later call is refused`() {
        val began = CountDownLatch(1)
        val first =
            executor.callAsync(ordered) {
                began.countDown()
                CountDownLatch(1).await()
            }
        val second = executor.callAsync(ordered) { 2 }
        began.await()
        assertEquals(1, executor.shutdownNow().size)
        assertThrows(CancellationException::class.java) { second.get(1, TimeUnit.MINUTES) }
        val why = assertThrows(ExecutionException::class.java) { first.get(1, TimeUnit.MINUTES) }.cause
        assertInstanceOf(InterruptedException::class.java, why)
        assertThrows(RejectedExecutionException::class.java) { executor.callAsync(site) { 3 } }
    }

    @Test
    fun `a dependent of callAsync may wait for the executor's end`() {
        val ended = CompletableFuture<Unit>()
        executor.callAsync(site) {}.thenRun { ended.complete(executor.close()) }
        ended.get(1, TimeUnit.MINUTES)
    }

    @Test
    fun `the status counts tasks that wait, run and have ended`() {
        val began = CountDownLatch(1)
        val go = CountDownLatch(1)
        val first =
            executor.callAsync(ordered) {
                began.countDown()
                go.await()
            }
        val second = executor.callAsync(ordered) {}
        val dropped = executor.callAsync(ordered) {}
        began.await()
        dropped.cancel(false)
        assertEquals(listOf(1L, 1L, 0L), executor.status().run { listOf(tasksWaiting, tasksRunning, tasksEnded) })
        go.countDown()
        CompletableFuture.allOf(first, second).get(1, TimeUnit.MINUTES)
        assertEquals(listOf(0L, 0L, 2L), executor.status().run { listOf(tasksWaiting, tasksRunning, tasksEnded) })
        assertEquals(2, executor.status().cpuThreadsMax)
    }
}
