// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutionException
import java.util.concurrent.Executors
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class EventThreadTest {
    private val executor = AdaptiveExecutor(processors = 2, elasticMax = 16)
    private val events = Executors.newSingleThreadExecutor()
    private val eventThread = events.submit<Thread> { Thread.currentThread() }.get()

    @AfterEach
    fun close() {
        events.shutdownNow()
        executor.shutdownNow()
        executor.close()
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

    @Test
    fun `an unknown site never runs on an event thread`() {
        executor.registerEventThread(eventThread)
        assertFalse(eventThread in threadsOf(executor.site("unknown")))
    }

    @Test
    fun `short items never run on an event thread`() {
        executor.registerEventThread(eventThread)
        val known = executor.site("known")
        repeat(300) { executor.runAll(known, 20) {} }
        repeat(20) { assertFalse(eventThread in threadsOf(known)) }
    }

    @Test
    fun `a site that has blocked never runs on an event thread`() {
        executor.registerEventThread(eventThread)
        val blocks = executor.site("blocks")
        val turn = CountDownLatch(1)
        executor.runAll(blocks, 2) { if (it == 0) turn.await() else turn.countDown() }
        repeat(20) { assertFalse(eventThread in threadsOf(blocks)) }
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
    fun `runAll on an event thread is refused and names runAllAsync`() {
        executor.registerEventThread(eventThread)
        val refused =
            assertThrows(ExecutionException::class.java) {
                events.submit { executor.runAll(executor.site("held"), 1) {} }.get()
            }
        assertInstanceOf(IllegalStateException::class.java, refused.cause)
        assertTrue("runAllAsync" in refused.cause?.message.orEmpty())
    }

    @Test
    fun `the future of a batch reports its failure, and cancelling it ends the batch`() {
        val site = executor.site("futures")
        val failed = executor.runAllAsync(site, listOf(1)) { throw IllegalStateException("item") }
        val thrown = assertThrows(ExecutionException::class.java) { failed.get() }
        assertEquals("item", thrown.cause?.message)

        val begun = CountDownLatch(1)
        val interrupted = CountDownLatch(1)
        val running =
            executor.runAllAsync(site, listOf(1, 2)) {
                begun.countDown()
                try {
                    CountDownLatch(1).await()
                } catch (_: InterruptedException) {
                    interrupted.countDown()
                }
            }
        begun.await()
        running.cancel(true)
        interrupted.await()
        // `get` waits: the future completes when its items have ended.
        assertThrows(CancellationException::class.java) { running.get() }
        assertTrue(running.isCancelled)
    }
}
