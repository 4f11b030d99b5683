// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import java.util.LinkedList
import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.CyclicBarrier
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
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Tests the results and the endings of `mapAll` and `mapAllAsync`. */
class MapAllTest {
    private val executor = AdaptiveExecutor(processors = 2, elasticMax = 4)
    private val site = executor.site("maps")
    private val ordered = executor.site("ordered", SiteOptions().ordered())

    @AfterEach
    fun close() {
        executor.shutdownNow()
        executor.close()
    }

    /** Maps in both forms, and checks that they return the same results. */
    private fun <T, R> both(site: Site, items: List<T>, function: (T) -> R): List<R> {
        val results = executor.mapAll(site, items, function)
        assertEquals(results, executor.mapAllAsync(site, items, function).get(1, TimeUnit.MINUTES))
        return results
    }

    @Test
    fun `the results are in the order of the items`() {
        forAll(batches) { (size, kind, _) ->
            val items = List(size) { it }
            val expected = items.map { -it }
            for (each in listOf(site, ordered)) assertEquals(expected, both(each, items) { -it.also { kind.run() } })
        }
        val many = List(10_000) { it }
        for (items in listOf(many, LinkedList(many))) assertEquals(many.map { "$it" }, both(site, items) { "$it" })
    }

    @Test
    fun `the first example uses the results`() {
        fun shrink(image: String) = image.dropLast(4)
        fun show(small: List<String>) = assertEquals(listOf("a", "b"), small)
        val images = listOf("a.png", "b.png")
        // #region first
        AdaptiveExecutor().use { executor ->
            val thumbnails = executor.site("thumbnails")
            show(executor.mapAll(thumbnails, images) { image -> shrink(image) })
            executor.mapAllAsync(thumbnails, images) { image -> shrink(image) }.thenAccept { later -> show(later) }
        }
        // #endregion first
    }

    @Test
    fun `mapAll reads as Kotlin`() {
        fun shrink(image: String) = image.dropLast(4)
        val images = listOf("a.png", "b.png")
        // #region map-all
        val thumbnails = executor.site("thumbnails")
        val small: List<String> = executor.mapAll(thumbnails, images) { image -> shrink(image) }
        // #endregion map-all
        assertEquals(listOf("a", "b"), small)
    }

    @Test
    fun `a result may be null, and the list of results cannot be changed`() {
        val results = both(site, listOf(1, 2)) { if (it == 1) null else it }
        assertEquals(listOf(null, 2), results)
        @Suppress("UNCHECKED_CAST") val list = results as MutableList<Int?>
        assertThrows(UnsupportedOperationException::class.java) { list[0] = 1 }
    }

    @Test
    fun `no items have no results`() {
        assertEquals(emptyList<Int>(), both(site, emptyList<Int>()) { throw AssertionError("there is no item") })
        executor.shutdown()
        assertEquals(emptyList<Int>(), executor.mapAll(site, emptyList<Int>()) { it })
    }

    @Test
    fun `the first exception is thrown as the same object, and later ones are suppressed`() {
        val thrown = List(2) { AssertionError("item $it") }
        val meet = CyclicBarrier(2)
        val first =
            assertThrows(AssertionError::class.java) {
                executor.mapAll(site, listOf(0, 1)) {
                    meet.await()
                    throw thrown[it]
                }
            }
        val second = thrown.single { it !== first }
        assertTrue(thrown.any { it === first })
        assertSame(second, first.suppressed.single())
    }

    @Test
    fun `no item begins after an exception`() {
        val begun = AtomicInteger()
        fun fail(item: Int): Int = begun.incrementAndGet().also { if (item == 3) throw IllegalStateException("broken") }
        assertThrows(IllegalStateException::class.java) { executor.mapAll(ordered, List(1000) { it }, ::fail) }
        assertEquals(4, begun.get())
        val failed = executor.mapAllAsync(ordered, List(1000) { it }, ::fail)
        val why = assertThrows(ExecutionException::class.java) { failed.get(1, TimeUnit.MINUTES) }
        assertInstanceOf(IllegalStateException::class.java, why.cause)
        assertEquals(8, begun.get())
    }

    @Test
    fun `an interrupt of the caller interrupts the items and throws InterruptedException`() {
        val begun = CountDownLatch(2)
        val interrupted = CountDownLatch(2)
        val outcome = CompletableFuture<Throwable>()
        val caller = thread {
            try {
                executor.mapAll(site, List(10) { it }) {
                    begun.countDown()
                    try {
                        CountDownLatch(1).await()
                    } finally {
                        interrupted.countDown()
                    }
                }
            } catch (thrown: Throwable) {
                outcome.complete(thrown)
            }
        }
        begun.await()
        caller.interrupt()
        assertInstanceOf(InterruptedException::class.java, outcome.get(1, TimeUnit.MINUTES))
        assertTrue(interrupted.await(1, TimeUnit.MINUTES))
    }

    @Test
    fun `an item that interrupts its own thread ends the batch or leaves the interrupt to the caller`() {
        val isKnown =
            try {
                executor.mapAll(ordered, listOf(1, 2)) { Thread.currentThread().interrupt() }
                Thread.interrupted()
            } catch (_: InterruptedException) {
                true
            }
        assertTrue(isKnown)
        assertFalse(Thread.interrupted())
        assertEquals(listOf(2, 3), both(ordered, listOf(1, 2)) { it + 1 })
    }

    @Test
    fun `nested calls from every worker do not deadlock`() {
        fun sum(depth: Int): Int = if (depth == 0) 1 else executor.mapAll(site, List(4) { it }) { sum(depth - 1) }.sum()
        assertEquals(listOf(64, 64, 64), both(site, listOf(1, 2, 3)) { sum(3) })
        // The threads of the executor wait inside of their tasks.
        val tasks = List(8) { executor.submit<Int> { sum(2) } }
        assertEquals(List(8) { 16 }, tasks.map { it.get(1, TimeUnit.MINUTES) })
    }

    @Test
    fun `no more items run at a time than the executor has threads`() {
        val now = AtomicInteger()
        val most = AtomicInteger()
        repeat(20) {
            executor.mapAll(site, List(40) { it }) {
                most.accumulateAndGet(now.incrementAndGet(), ::maxOf)
                Kind.ASLEEP.run()
                now.decrementAndGet()
            }
        }
        // The caller, two CPU workers and four further threads.
        assertTrue(most.get() <= 7, "${most.get()} items ran at a time")
    }

    @Test
    fun `a cancelled future completes when the running items have ended`() {
        val begun = CountDownLatch(2)
        val running = AtomicInteger()
        val future =
            executor.mapAllAsync(site, List(20) { it }) {
                running.incrementAndGet()
                begun.countDown()
                try {
                    CountDownLatch(1).await()
                } finally {
                    running.decrementAndGet()
                }
            }
        begun.await()
        assertTrue(future.cancel(true))
        assertThrows(CancellationException::class.java) { future.get(1, TimeUnit.MINUTES) }
        assertEquals(0, running.get())
    }

    @Test
    fun `a call after the shutdown is refused`() {
        executor.shutdown()
        assertThrows(RejectedExecutionException::class.java) { executor.mapAll(site, listOf(1)) { it } }
        assertThrows(RejectedExecutionException::class.java) { executor.mapAllAsync(site, listOf(1)) { it } }
    }

    @Test
    fun `shutdownNow ends a call with CancellationException`() {
        val begun = CountDownLatch(1)
        val outcome = CompletableFuture<Throwable>()
        thread {
            try {
                executor.mapAll(site, List(10) { it }) {
                    begun.countDown()
                    CyclicBarrier(2).await()
                }
            } catch (thrown: Throwable) {
                outcome.complete(thrown)
            }
        }
        begun.await()
        executor.shutdownNow()
        assertInstanceOf(CancellationException::class.java, outcome.get(1, TimeUnit.MINUTES))
    }

    @Test
    fun `mapAll is refused on an event thread, and mapAllAsync is not`() {
        val events = Executors.newSingleThreadExecutor()
        try {
            executor.registerEventThread(events.submit<Thread> { Thread.currentThread() }.get())
            val refused = events.submit { executor.mapAll(site, listOf(1)) { it } }
            val why = assertThrows(ExecutionException::class.java) { refused.get() }
            assertInstanceOf(IllegalStateException::class.java, why.cause)
            val started = events.submit<CompletableFuture<List<Int>>> { executor.mapAllAsync(site, listOf(1)) { it } }
            assertEquals(listOf(1), started.get().get(1, TimeUnit.MINUTES))
        } finally {
            events.shutdownNow()
        }
    }
}

/** Tests stages that depend on the executor's futures. A stage is not part of the work that completes its future. */
class StagesTest {
    private val executor = AdaptiveExecutor(processors = 2, elasticMax = 4)
    private val carried = ThreadLocal<String>()
    private val site = executor.site("batches", SiteOptions().carry(carried))
    private val ordered = executor.site("ordered", SiteOptions().ordered())

    @AfterEach
    fun close() {
        executor.shutdownNow()
        executor.close()
    }

    /**
     * Runs a batch of one item, and then a stage on the item's thread. Calls `meanwhile` before the item ends. Returns
     * the stage's value.
     */
    private fun <T> afterBatch(item: () -> Unit = {}, meanwhile: () -> Unit = {}, stage: () -> T): T {
        val go = CountDownLatch(1)
        val staged =
            executor
                .runAllAsync(site, listOf(1)) {
                    go.await()
                    item()
                }
                .thenApply { stage() }
        meanwhile()
        go.countDown()
        return staged.get(1, TimeUnit.MINUTES)
    }

    @Test
    fun `a stage after a batch starts no batch after the shutdown, when the executor is over`() {
        afterBatch(meanwhile = executor::shutdown) {
            assertTrue(executor.isTerminated)
            assertThrows(RejectedExecutionException::class.java) { executor.runAllAsync(site, listOf(1)) {} }
            assertThrows(RejectedExecutionException::class.java) { executor.runAll(site, 1) {} }
        }
    }

    @Test
    fun `an interrupt that an item leaves behind does not reach a stage after its batch`() {
        assertFalse(afterBatch(item = { Thread.currentThread().interrupt() }) { Thread.currentThread().isInterrupted })
    }

    @Test
    fun `a stage after a batch does not see the thread-locals that its items carry`() {
        val caller = Thread.currentThread()
        carried.set("the caller's")
        afterBatch(item = { assertEquals("the caller's", carried.get()) }) {
            assertNotSame(caller, Thread.currentThread())
            assertNull(carried.get())
        }
    }

    /**
     * Runs a task of the ordered site, and then a stage on the task's thread. Calls `meanwhile` before the task ends.
     */
    private fun <T> afterTask(meanwhile: () -> Unit = {}, stage: () -> T): T {
        val go = CountDownLatch(1)
        val staged = executor.callAsync(ordered) { go.await() }.thenApply { stage() }
        meanwhile()
        go.countDown()
        return staged.get(1, TimeUnit.MINUTES)
    }

    @Test
    fun `a stage after a task of an ordered site may wait for the site's next task and next batch`() {
        lateinit var next: List<CompletableFuture<*>>
        afterTask(
            meanwhile = { next = listOf(executor.callAsync(ordered) {}, executor.runAllAsync(ordered, listOf(1)) {}) }
        ) {
            next.forEach { it.get(1, TimeUnit.MINUTES) }
        }
    }

    @Test
    fun `a stage after a task of an ordered site may close the executor while further tasks wait`() {
        val ran = AtomicInteger()
        afterTask(meanwhile = { repeat(3) { executor.callAsync(ordered) { ran.incrementAndGet() } } }) {
            executor.close()
        }
        assertEquals(3, ran.get())
    }

    @Test
    fun `a stage after a dropped task may wait for the executor's end`() {
        val began = CountDownLatch(2)
        val blocks = Runnable {
            began.countDown()
            CountDownLatch(1).await() // Only an interrupt ends this wait.
        }
        executor.callAsync(ordered) { blocks.run() }
        executor.runAllAsync(site, listOf(1)) { blocks.run() }
        val staged = List(2) { executor.callAsync(ordered) {}.handle { _, _ -> executor.close() } }
        began.await()
        val stopped = CompletableFuture.supplyAsync { executor.shutdownNow().size }
        assertEquals(2, stopped.get(1, TimeUnit.MINUTES))
        staged.forEach { it.get(1, TimeUnit.MINUTES) }
    }
}
