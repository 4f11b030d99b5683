// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import java.util.LinkedList
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutionException
import java.util.concurrent.Executors
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.atomic.AtomicInteger
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

/** Tests the results and the endings of `mapAll` and `mapAllAsync`. */
class MapAllTest : WithExecutor(elasticMax = 4) {
    private val site = executor.site("maps")

    /** Maps in both forms, and checks that they return the same results. */
    private fun <T, R> both(site: Site, items: List<T>, function: (T) -> R): List<R> {
        val results = executor.mapAll(site, items, function)
        assertEquals(results, executor.mapAllAsync(site, items, function).ended())
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
    fun `no item begins after an exception`() {
        val begun = AtomicInteger()
        fun fail(item: Int): Int = begun.incrementAndGet().also { if (item == 3) throw IllegalStateException("broken") }
        assertThrows(IllegalStateException::class.java) { executor.mapAll(ordered, List(1000) { it }, ::fail) }
        assertEquals(4, begun.get())
        val failed = executor.mapAllAsync(ordered, List(1000) { it }, ::fail)
        val why = assertThrows(ExecutionException::class.java) { failed.ended() }
        assertInstanceOf(IllegalStateException::class.java, why.cause)
        assertEquals(8, begun.get())
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
        assertEquals(List(8) { 16 }, tasks.map { it.ended() })
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
}

/** Tests stages that depend on the executor's futures. A stage is not part of the work that completes its future. */
class StagesTest : WithExecutor(elasticMax = 4) {
    private val carried = ThreadLocal<String>()
    private val site = executor.site("batches", SiteOptions().carry(carried))

    /**
     * Starts work that waits, and depends a stage on it, which then runs on the work's thread. Calls `meanwhile` before
     * the work ends. Returns the stage's value.
     */
    private fun <T> after(
        work: (wait: () -> Unit) -> CompletableFuture<*>,
        meanwhile: () -> Unit = {},
        stage: () -> T,
    ): T {
        val go = CountDownLatch(1)
        val staged = work { go.await() }.thenApply { stage() }
        meanwhile()
        go.countDown()
        return staged.ended()
    }

    /** Runs a batch of one item, and then a stage. */
    private fun <T> afterBatch(item: () -> Unit = {}, meanwhile: () -> Unit = {}, stage: () -> T): T =
        after({ wait -> executor.runAllAsync(site, listOf(1)) { wait().also { item() } } }, meanwhile, stage)

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

    /** Runs a task of the ordered site, and then a stage. */
    private fun <T> afterTask(meanwhile: () -> Unit = {}, stage: () -> T): T =
        after({ wait -> executor.callAsync(ordered) { wait() } }, meanwhile, stage)

    @Test
    fun `a stage after a task of an ordered site may wait for the site's next task and next batch`() {
        lateinit var next: List<CompletableFuture<*>>
        afterTask(
            meanwhile = { next = listOf(executor.callAsync(ordered) {}, executor.runAllAsync(ordered, listOf(1)) {}) }
        ) {
            next.forEach { it.ended() }
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
        val blocks = Hanging(2)
        executor.callAsync(ordered) { blocks.run() }
        executor.runAllAsync(site, listOf(1)) { blocks.run() }
        val staged = List(2) { executor.callAsync(ordered) {}.handle { _, _ -> executor.close() } }
        blocks.begun.await()
        val stopped = CompletableFuture.supplyAsync { executor.shutdownNow().size }
        assertEquals(2, stopped.ended())
        staged.forEach { it.ended() }
    }
}

class EventThreadTest : WithExecutor(elasticMax = 16) {
    private val events = Executors.newSingleThreadExecutor()
    private val eventThread = events.submit<Thread> { Thread.currentThread() }.get()

    @AfterEach
    fun closeEvents() {
        events.shutdownNow()
    }

    /** Returns the threads that ran 20 items submitted on the event thread. */
    private fun threadsOf(site: Site): Set<Thread> {
        val threads = ConcurrentHashMap.newKeySet<Thread>()
        val started =
            events.submit<CompletableFuture<Void?>> {
                executor.runAllAsync(site, (0 until 20).toList()) { threads += Thread.currentThread() }
            }
        started.get().get()
        return threads
    }

    @TestFactory
    fun `a batch never runs on an event thread`(): List<DynamicTest> {
        val kinds =
            mapOf<String, (Site) -> Unit>(
                "of an unknown site" to { _ -> },
                "of short items" to { site -> repeat(300) { executor.runAll(site, 20) {} } },
                "of a site that has blocked" to
                    { site ->
                        val turn = CountDownLatch(1)
                        executor.runAll(site, 2) { if (it == 0) turn.await() else turn.countDown() }
                    },
            )
        return kinds.map { (name, before) ->
            dynamicTest(name) {
                executor.registerEventThread(eventThread)
                val site = executor.site(name).also(before)
                repeat(if (name == "of an unknown site") 1 else 20) { assertFalse(eventThread in threadsOf(site)) }
            }
        }
    }

    @Test
    fun `runAllAsync does not block its caller when a trivial site waits for the first time`() {
        val known = executor.site("trivial until now")
        repeat(300) { executor.runAll(known, listOf(1, 2)) {} }
        val goesOn = CountDownLatch(1)
        val waits = executor.runAllAsync(known, listOf(1, 2)) { goesOn.await() }
        goesOn.countDown() // This thread would never get here if it waited for the batch.
        waits.join()
    }

    @Test
    fun `the future of a batch reports its failure`() {
        val failed = executor.runAllAsync(executor.site("futures"), listOf(1)) { throw IllegalStateException("item") }
        assertEquals("item", assertThrows(ExecutionException::class.java) { failed.get() }.cause?.message)
    }
}
