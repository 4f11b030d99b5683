// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutorCompletionService
import java.util.concurrent.FutureTask
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

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
