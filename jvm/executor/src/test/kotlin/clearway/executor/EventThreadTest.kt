// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutionException
import java.util.concurrent.ExecutorCompletionService
import java.util.concurrent.Executors
import java.util.concurrent.FutureTask
import java.util.concurrent.TimeUnit
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

/** Tests the sites of tasks whose class belongs to the JDK. */
class CallerCodeTest {
    private val executor = AdaptiveExecutor(processors = 2, elasticMax = 4)

    @AfterEach fun close() = executor.close()

    private fun names() = executor.known.map { it.name }.sorted()

    private fun supply() = CompletableFuture.supplyAsync({ 1 }, executor)

    private fun runOne() = CompletableFuture.runAsync({}, executor)

    private fun <T> CompletableFuture<T>.ended(): T = get(1, TimeUnit.MINUTES)

    @Test
    fun `supplyAsync and runAsync have the site of the code that calls them`() {
        repeat(3) { supply().ended() }
        repeat(3) { runOne().ended() }
        val (run, supply) = names()
        assertTrue(Regex("clearway.executor.CallerCodeTest.runOne:\\d+").matches(run), run)
        assertTrue(Regex("clearway.executor.CallerCodeTest.supply:\\d+").matches(supply), supply)
    }

    @Test
    fun `two lines of one function have two sites, which learn apart`() {
        val waits = { Thread.sleep(2) }
        // A warm site of trivial tasks is measured seldom. These tasks are too few to make it warm.
        repeat(3) {
            CompletableFuture.runAsync(waits, executor).ended()
            CompletableFuture.runAsync({}, executor).ended()
        }
        executor.close() // A task is learnt after its future has ended.
        val lines = executor.known.sortedBy { it.name }
        assertEquals(2, lines.size)
        assertTrue(lines[0].needsElastic)
        assertEquals(listOf(3, 3), lines.map { it.model.batches })
    }

    @Test
    fun `thenApplyAsync of an ended future has the site of the code that calls it`() {
        val ended = CompletableFuture.completedFuture(1)
        ended.thenApplyAsync({ it + 1 }, executor).ended()
        assertTrue(Regex(".*CallerCodeTest.*:\\d+").matches(names().single()), names().single())
    }

    @Test
    fun `a stage that depends on a running task has a site that is named after the task's`() {
        val go = CountDownLatch(1)
        fun waiting() = CompletableFuture.supplyAsync({ go.await().let { 1 } }, executor)
        val first = waiting().thenApplyAsync({ it + 1 }, executor).thenAcceptAsync({}, executor)
        go.countDown()
        first.ended()
        val names = names()
        assertEquals(3, names.size, names.toString())
        assertEquals("${names[0]} > UniApply", names[1])
        assertEquals("${names[0]} > UniApply > UniAccept", names[2])
    }

    @Test
    fun `an endless chain of stages makes few sites`() {
        val go = CountDownLatch(1)
        var last = CompletableFuture.supplyAsync({ go.await().let { 0 } }, executor)
        repeat(200) { last = last.thenApplyAsync({ it + 1 }, executor) }
        go.countDown()
        assertEquals(200, last.ended())
        assertTrue(names().size <= 5, names().toString())
    }

    @Test
    fun `a stage that a thread of the app completes has the site of the code that completes it`() {
        val future = CompletableFuture<Int>()
        val next = future.thenApplyAsync({ it + 1 }, executor)
        future.complete(1)
        next.ended()
        assertTrue("CallerCodeTest" in names().single(), names().single())
    }

    @Test
    fun `a completion service and a FutureTask have the site of the code that submits`() {
        val service = ExecutorCompletionService<Int>(executor)
        service.submit { 1 }
        assertEquals(1, service.take().get())
        val task = FutureTask { 2 }
        executor.execute(task)
        assertEquals(2, task.get(1, TimeUnit.MINUTES))
        assertTrue(names().all { "CallerCodeTest" in it }, names().toString())
        assertEquals(2, names().size)
    }

    @Test
    fun `a task that only the JDK submits has the site of its class`() {
        val delayed = CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS, executor)
        CompletableFuture.runAsync({}, delayed).ended()
        assertTrue(names().single().startsWith("java.util.concurrent.CompletableFuture$"), names().toString())
    }
}
