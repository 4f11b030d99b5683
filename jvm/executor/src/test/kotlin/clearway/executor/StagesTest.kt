// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

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
