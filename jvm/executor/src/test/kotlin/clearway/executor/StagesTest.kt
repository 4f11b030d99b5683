// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import java.util.concurrent.CountDownLatch
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
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
}
