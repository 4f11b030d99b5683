// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import java.io.IOException
import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutionException
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReference
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Tests the stream of results that `settleEach` returns. */
class ResultStreamTest : WithExecutor(elasticMax = 4) {
    private val site = executor.site("each")

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
        val items = Hanging(4)
        val stream =
            executor.settleEach(site, 0 until 1_000, EachOptions().window(5).asFinished()) { if (it > 0) items.run() }
        assertEquals(0, stream.read()!!.index)
        items.begun.await()
        stream.close()
        stream.close()
        assertEquals(0, items.running.get())
        assertEquals(4, items.calls.get())
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
    fun `no item begins after the source of the items has closed the stream`() {
        lateinit var stream: ResultStream<Int, Int>
        val source = Iterable { iterator { yield(1.also { stream.close() }) } }
        val ran = AtomicInteger()
        stream = executor.settleEach(site, source) { ran.incrementAndGet() }
        assertThrows(IllegalStateException::class.java) { stream.read() }
        executor.close()
        assertEquals(0, ran.get())
    }

    @Test
    fun `an interrupt ends a read, and the stream stays usable`() {
        val go = CountDownLatch(1)
        val stream = executor.settleEach(site, listOf(1)) { go.await().let { _ -> it } }
        val (reader, outcome) = elsewhere { stream.read() }
        reader.interrupt()
        assertInstanceOf(InterruptedException::class.java, outcome.ended())
        go.countDown()
        assertEquals(1, stream.read()!!.value)
        assertNull(stream.read())
    }

    @Test
    fun `an interrupt in the iterator closes the stream and stays set`() {
        val (reader, outcome) =
            elsewhere {
                val stream = executor.settleEach(site, listOf(1)) { CountDownLatch(1).await() }
                assertThrows(CancellationException::class.java) { stream.iterator().next() }
                assertTrue(Thread.currentThread().isInterrupted)
            }
        reader.interrupt()
        assertNull(outcome.ended())
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
        val stream =
            executor.settleEach(ordered, 0 until 3, EachOptions().window(3)) { if (it > 0) CountDownLatch(1).await() }
        assertTrue(stream.read()!!.isSuccess)
        while (executor.status().tasksRunning == 0L) Thread.onSpinWait()
        executor.shutdownNow()
        assertInstanceOf(InterruptedException::class.java, stream.read()!!.failure)
        assertInstanceOf(CancellationException::class.java, stream.read()!!.failure)
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
class SettleTest : WithExecutor(elasticMax = 4) {
    private val site = executor.site("settles")

    @Test
    fun `settleAll returns the values and all failures, in the order of the items`() {
        val broken = IOException("broken")
        val function = { item: Int -> if (item % 3 == 0) throw broken else if (item % 3 == 1) null else item }
        val items = List(100) { it }
        for (each in listOf(site, ordered)) {
            val later = executor.settleAllAsync(each, items, function)
            for (results in listOf(executor.settleAll(each, items, function), later.ended())) {
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
    fun `callAsync completes with the value or with the exception, as the same object`() {
        assertEquals(1, executor.callAsync(site) { 1 }.ended())
        val broken = IOException("broken")
        val future = executor.callAsync<Int>(site) { throw broken }
        assertSame(broken, assertThrows(ExecutionException::class.java) { future.ended() }.cause)
    }

    @Test
    fun `a cancelled callAsync drops a task that has not begun, and interrupts a running one`() {
        val task = Hanging()
        val running = executor.callAsync(ordered) { task.run() }
        val ran = AtomicInteger()
        val waiting = executor.callAsync(ordered) { ran.incrementAndGet() }
        task.begun.await()
        assertTrue(waiting.cancel(true))
        assertTrue(waiting.isCancelled)
        assertTrue(running.cancel(true))
        assertThrows(CancellationException::class.java) { running.ended() }
        assertEquals(0, ran.get())
        assertEquals(1, executor.callAsync(ordered) { 1 }.ended())
    }

    @Test
    fun `a task's future whose cancel returned true is cancelled`() {
        val future = AtomicReference<CompletableFuture<Int>>()
        var cancelled: Boolean? = null
        val running = CountDownLatch(1)
        // The future asks an error for its text just before it fails with the error.
        val error =
            object : RuntimeException() {
                override fun toString(): String {
                    if (cancelled == null) cancelled = future.get().cancel(true)
                    return "late"
                }
            }
        future.set(
            executor.callAsync(site) {
                running.await()
                throw error
            }
        )
        running.countDown()
        assertThrows(ExecutionException::class.java) { future.get().ended() }
        assertEquals(future.get().isCancelled, cancelled)
    }

    @Test
    fun `shutdownNow cancels a callAsync that has not begun, and a later call is refused`() {
        val task = Hanging()
        val first = executor.callAsync(ordered) { task.run() }
        val second = executor.callAsync(ordered) { 2 }
        task.begun.await()
        assertEquals(1, executor.shutdownNow().size)
        assertThrows(CancellationException::class.java) { second.ended() }
        val why = assertThrows(ExecutionException::class.java) { first.ended() }.cause
        assertInstanceOf(InterruptedException::class.java, why)
        assertThrows(RejectedExecutionException::class.java) { executor.callAsync(site) { 3 } }
    }

    @Test
    fun `a dependent of callAsync may wait for the executor's end`() {
        val ended = CompletableFuture<Unit>()
        executor.callAsync(site) {}.thenRun { ended.complete(executor.close()) }
        ended.ended()
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
        CompletableFuture.allOf(first, second).ended()
        assertEquals(listOf(0L, 0L, 2L), executor.status().run { listOf(tasksWaiting, tasksRunning, tasksEnded) })
        assertEquals(2, executor.status().cpuThreadsMax)
    }
}
