// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.foreign

import clearway.executor.AdaptiveExecutor
import clearway.executor.SiteOptions
import java.util.concurrent.Callable
import java.util.concurrent.CancellationException
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutionException
import java.util.concurrent.Future
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.TestFactory

/** Tests foreign code that throws anything, hangs, or calls the executor, at every point of [POINTS]. */
class ForeignCodeTest {
    /** Reaches a point, and waits until all its futures settle. */
    private fun reach(point: Point, executor: AdaptiveExecutor, foreign: () -> Unit) {
        val reached = CountDownLatch(1)
        val futures =
            point.reach(executor) {
                reached.countDown()
                foreign()
            }
        assertTrue(reached.await(LIMIT, TimeUnit.SECONDS), "the point was not reached")
        futures.forEach(::settled)
    }

    private fun settled(future: Future<*>) {
        try {
            future.get(LIMIT, TimeUnit.SECONDS)
        } catch (_: ExecutionException) {
            // Its cause is the foreign exception.
        } catch (_: CancellationException) {
            // The task did not run.
        }
    }

    private fun assertWorks(executor: AdaptiveExecutor) {
        val count = AtomicInteger()
        val ordered = executor.site("ordered", SiteOptions().ordered())
        executor.runAll(executor.site("new"), 50) { count.incrementAndGet() }
        executor.runAll(ordered, 50) { count.incrementAndGet() }
        for (site in listOf(executor.site("new"), ordered)) {
            executor.runAllAsync(site, List(50) { it }) { count.incrementAndGet() }.get(LIMIT, TimeUnit.SECONDS)
            assertEquals(1, executor.asExecutorService(site).submit(Callable { 1 }).get(LIMIT, TimeUnit.SECONDS))
        }
        assertEquals(200, count.get())
        assertEquals(List(50) { it + 1 }, executor.mapAll(ordered, List(50) { it }) { it + 1 })
        executor.shutdown()
        assertTrue(executor.awaitTermination(LIMIT, TimeUnit.SECONDS))
    }

    private fun each(test: String, act: (Point, AdaptiveExecutor) -> Unit): List<DynamicTest> =
        POINTS.map { point ->
            dynamicTest("${point.name} $test") {
                val executor = AdaptiveExecutor(processors = 2, elasticMax = 16)
                try {
                    act(point, executor)
                } finally {
                    executor.shutdownNow()
                }
            }
        }

    @TestFactory
    fun `every future settles and the executor continues when foreign code throws`(): List<DynamicTest> =
        THROWING.flatMap { (what, throwing) ->
            each("throws $what") { point, executor ->
                reach(point, executor) { throwing() }
                assertWorks(executor)
            }
        }

    @TestFactory
    fun `every future settles and the executor continues when foreign code calls it`(): List<DynamicTest> =
        each("calls the executor") { point, executor ->
            reach(point, executor) {
                val other = executor.site("other")
                executor.runAll(other, 3) { executor.runAll(executor.site("inner"), 3) {} }
                executor.runAllAsync(other, listOf(1, 2)) {}.join()
                executor.mapAll(other, listOf(1, 2)) { executor.mapAll(other, listOf(it)) { 1 } }
                executor.submit(Callable { 1 }).get()
                executor.asExecutorService(other).shutdownNow()
            }
            assertWorks(executor)
        }

    @TestFactory
    fun `every future settles and the executor ends when foreign code shuts it down`(): List<DynamicTest> =
        each("shuts the executor down") { point, executor ->
            val returned = HashSet<Any>()
            val shut = CountDownLatch(1)
            var futures = emptyList<Future<*>>()
            try {
                futures =
                    point.reach(executor) {
                        synchronized(returned) { returned.addAll(executor.shutdownNow()) }
                        shut.countDown()
                    }
            } catch (_: RejectedExecutionException) {
                // The point submits more work after the shutdown.
            }
            assertTrue(shut.await(LIMIT, TimeUnit.SECONDS))
            assertTrue(executor.awaitTermination(LIMIT, TimeUnit.SECONDS))
            // A point may call `shutdownNow` twice. The lock waits for a call that has got its tasks but has not stored
            // them yet.
            val left = synchronized(returned) { returned.toSet() }
            futures.filter { it !in left }.forEach(::settled)
        }

    @TestFactory
    fun `other work runs, and shutdownNow settles every future, when foreign code hangs`(): List<DynamicTest> =
        POINTS.filter { "thread-local" !in it.name && "handler" !in it.name }
            .map { point ->
                dynamicTest("${point.name} hangs") {
                    val executor = AdaptiveExecutor(processors = 2, elasticMax = 16)
                    val hangs = CountDownLatch(1)
                    val futures =
                        point.reach(executor) {
                            hangs.countDown()
                            CountDownLatch(1).await()
                        }
                    assertTrue(hangs.await(LIMIT, TimeUnit.SECONDS))
                    assertEquals(1, executor.submit(Callable { 1 }).get(LIMIT, TimeUnit.SECONDS))
                    executor.runAll(executor.site("free"), 10) {}
                    val left = executor.shutdownNow().toSet<Any>()
                    assertTrue(executor.awaitTermination(LIMIT, TimeUnit.SECONDS))
                    futures.filter { it !in left }.forEach(::settled)
                }
            }

    private companion object {
        /** Time limit in seconds. Only a hang takes this long. */
        const val LIMIT = 60L
    }
}
