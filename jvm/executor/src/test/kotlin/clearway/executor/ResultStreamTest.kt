// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import java.io.IOException
import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutionException
import java.util.concurrent.Executors
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Tests the stream of results that `settleEach` returns. */
class ResultStreamTest {
    private val executor = AdaptiveExecutor(processors = 2, elasticMax = 4)
    private val site = executor.site("each")

    @AfterEach
    fun close() {
        executor.shutdownNow()
        executor.close()
    }

    @Test
    fun `results come in the order of the items, and failures are results`() {
        val broken = IllegalStateException("broken")
        val results = executor.settleEach(site, 0 until 200) { if (it == 7) throw broken else -it }.use { it.toList() }
        assertEquals(List(200) { it }, results.map { it.index })
        assertSame(broken, results[7].failure)
        assertEquals((0 until 200).filter { it != 7 }.map { -it }, results.filter { it.isSuccess }.map { it.value })
    }

    @Test
    fun `results come as their items end when the options say so`() {
        val last = CountDownLatch(1)
        val options = EachOptions().asFinished().window(2)
        executor
            .settleEach(site, listOf(0, 1), options) { if (it == 0) last.await() else it }
            .use { stream ->
                assertEquals(1, stream.read()!!.index)
                last.countDown()
                assertEquals(0, stream.read()!!.index)
                assertNull(stream.read())
                assertNull(stream.read())
            }
    }

    @Test
    fun `no more than a window of items begins before their results are read, also from an endless source`() {
        for (options in listOf(EachOptions().window(3), EachOptions().window(3).asFinished())) {
            val pulled = AtomicInteger()
            val endless = generateSequence { pulled.getAndIncrement() }.asIterable()
            executor
                .settleEach(site, endless, options) { it }
                .use { stream ->
                    assertEquals(0, pulled.get())
                    for (read in 1..100) {
                        stream.read()
                        assertEquals(read + 2, pulled.get())
                    }
                }
        }
    }

    @Test
    fun `close interrupts the running items, begins no further one, and waits for their ends`() {
        val began = CountDownLatch(4)
        val running = AtomicInteger()
        val count = AtomicInteger()
        val stream =
            executor.settleEach(site, 0 until 1_000, EachOptions().window(5).asFinished()) {
                count.incrementAndGet()
                if (it == 0) return@settleEach
                running.incrementAndGet()
                began.countDown()
                try {
                    CountDownLatch(1).await()
                } finally {
                    running.decrementAndGet()
                }
            }
        assertEquals(0, stream.read()!!.index)
        began.await()
        stream.close()
        stream.close()
        assertEquals(0, running.get())
        assertEquals(5, count.get())
        assertThrows(IllegalStateException::class.java) { stream.read() }
    }

    @Test
    fun `an exception of the source closes the stream and reaches the reader as the same object`() {
        val broken = IllegalStateException("source")
        val source = Iterable { iterator { yield(1).also { throw broken } } }
        val stream = executor.settleEach(site, source, EachOptions().window(8)) { it }
        assertSame(broken, assertThrows(IllegalStateException::class.java) { stream.read() })
    }

    @Test
    fun `an interrupt ends a read, and the stream stays usable`() {
        val go = CountDownLatch(1)
        val stream = executor.settleEach(site, listOf(1)) { go.await().let { _ -> it } }
        val outcome = CompletableFuture<Throwable>()
        val reader = thread { outcome.complete(runCatching { stream.read() }.exceptionOrNull()) }
        reader.interrupt()
        assertInstanceOf(InterruptedException::class.java, outcome.get(1, TimeUnit.MINUTES))
        reader.join()
        go.countDown()
        assertEquals(1, stream.read()!!.value)
        assertNull(stream.read())
    }

    @Test
    fun `an interrupt in the iterator closes the stream and stays set`() {
        val outcome = CompletableFuture<Pair<Throwable?, Boolean>>()
        val reader = thread {
            val stream = executor.settleEach(site, listOf(1)) { CountDownLatch(1).await() }
            val thrown = runCatching { stream.iterator().next() }.exceptionOrNull()
            outcome.complete(thrown to Thread.currentThread().isInterrupted)
        }
        reader.interrupt()
        val (thrown, isInterrupted) = outcome.get(1, TimeUnit.MINUTES)
        assertInstanceOf(CancellationException::class.java, thrown)
        assertTrue(isInterrupted)
    }

    @Test
    fun `after a shutdown, the begun items are read, and then the reader is refused`() {
        val stream = executor.settleEach(site, 0 until 10, EachOptions().window(2)) { it }
        assertEquals(0, stream.read()!!.value)
        executor.shutdown()
        assertEquals(1, stream.read()!!.value)
        assertThrows(RejectedExecutionException::class.java) { stream.read() }
    }

    @Test
    fun `shutdownNow gives an item that has not begun a CancellationException`() {
        val ordered = executor.site("ordered", SiteOptions().ordered())
        val stream =
            executor.settleEach(ordered, 0 until 3, EachOptions().window(3)) { if (it > 0) CountDownLatch(1).await() }
        assertTrue(stream.read()!!.isSuccess)
        while (executor.status().tasksRunning == 0L) Thread.onSpinWait()
        executor.shutdownNow()
        assertInstanceOf(InterruptedException::class.java, stream.read()!!.failure)
        assertInstanceOf(CancellationException::class.java, stream.read()!!.failure)
    }

    @Test
    fun `a read is refused on an event thread`() {
        val events = Executors.newSingleThreadExecutor()
        try {
            executor.registerEventThread(events.submit<Thread> { Thread.currentThread() }.get())
            val refused = events.submit { executor.settleEach(site, listOf(1)) { it }.read() }
            val why = assertThrows(ExecutionException::class.java) { refused.get() }
            assertInstanceOf(IllegalStateException::class.java, why.cause)
        } finally {
            events.shutdownNow()
        }
    }

    @Test
    fun `a window is refused when it is outside its range`() {
        for (items in listOf(0, -1, 65_537)) {
            val thrown = assertThrows(IllegalArgumentException::class.java) { EachOptions().window(items) }
            assertEquals("window must be from 1 to 65536: window=$items", thrown.message)
        }
    }

    @Test
    fun `a thread-local that throws makes its item fail, and the stream goes on`() {
        val throwing =
            object : ThreadLocal<Int>() {
                var left = 1

                override fun initialValue(): Int = if (left-- > 0) throw IllegalStateException("local") else 1
            }
        val carrying = executor.site("carrying", SiteOptions().carry(throwing))
        val results = executor.settleEach(carrying, listOf(1, 2)) { it }.use { it.toList() }
        assertFalse(results[0].isSuccess)
        assertEquals(2, results[1].value)
    }
}

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
