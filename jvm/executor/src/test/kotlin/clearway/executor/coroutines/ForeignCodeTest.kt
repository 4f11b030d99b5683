// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.coroutines

import clearway.executor.AdaptiveExecutor
import clearway.executor.SiteOptions
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineExceptionHandler
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.async
import kotlinx.coroutines.delay
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

/** Tests coroutines that throw anything, hang, or call the executor, at every point where the dispatcher runs them. */
class ForeignCodeTest {
    /** A point where foreign code runs. `reach` triggers it, and returns the job that must settle. */
    private class Point(
        val name: String,
        val reach: suspend CoroutineScope.(on: CoroutineDispatcher, foreign: () -> Unit) -> Job,
    )

    private val points =
        listOf(
            Point("a coroutine") { on, foreign -> async(on) { foreign() } },
            Point("a coroutine after a suspension") { on, foreign ->
                async(on) {
                    delay(1)
                    foreign()
                }
            },
            Point("a coroutine's finally") { on, foreign ->
                async(on) {
                    try {
                        delay(1)
                    } finally {
                        foreign()
                    }
                }
            },
            Point("what is called when a coroutine ends") { on, foreign ->
                // A job that has already ended would call it here, on this thread, and throw at this test.
                val installed = Job()
                async(on) { installed.join() }
                    .also {
                        it.invokeOnCompletion { foreign() }
                        installed.complete()
                    }
            },
        )

    private val throwing =
        mapOf<String, () -> Nothing>(
            "an exception" to { throw IllegalStateException("broken") },
            "an Error" to { throw AssertionError("broken") },
            "a StackOverflowError" to { throw StackOverflowError() },
            "TODO()" to { TODO() },
            "CancellationException" to { throw CancellationException("broken") },
        )

    private fun each(test: String, act: (Point, AdaptiveExecutor, CoroutineDispatcher) -> Unit): List<DynamicTest> =
        points.flatMap { point ->
            listOf(false, true).map { ordered ->
                dynamicTest("${point.name} $test, ordered: $ordered") {
                    val executor = AdaptiveExecutor(processors = 2, elasticMax = 16)
                    try {
                        val options = if (ordered) SiteOptions().ordered() else SiteOptions()
                        act(point, executor, executor.asDispatcher(executor.site("coroutines", options)))
                    } finally {
                        executor.shutdownNow()
                    }
                }
            }
        }

    /** Reaches a point, and waits until everything has settled. */
    private fun reach(point: Point, on: CoroutineDispatcher, foreign: () -> Unit) = runBlocking {
        val quiet = CoroutineExceptionHandler { _, _ -> }
        val scope = CoroutineScope(SupervisorJob() + quiet)
        withTimeout(LIMIT_MS) { listOf(point.reach(scope, on, foreign)).joinAll() }
    }

    private fun assertWorks(executor: AdaptiveExecutor, on: CoroutineDispatcher) {
        val sum = runBlocking { withTimeout(LIMIT_MS) { List(50) { async(on) { it } }.sumOf { it.await() } } }
        assertEquals(1225, sum)
        executor.shutdown()
        assertTrue(executor.awaitTermination(LIMIT_MS, TimeUnit.MILLISECONDS))
    }

    @TestFactory
    fun `everything settles and the dispatcher goes on when a coroutine throws`(): List<DynamicTest> =
        throwing.flatMap { (what, thrown) ->
            each("throws $what") { point, executor, on ->
                reach(point, on) { thrown() }
                assertWorks(executor, on)
            }
        }

    @TestFactory
    fun `everything settles and the dispatcher goes on when a coroutine calls the executor`(): List<DynamicTest> =
        each("calls the executor") { point, executor, on ->
            val site = executor.site("inner")
            reach(point, on) { executor.runAll(site, 10) {} }
            assertWorks(executor, on)
        }

    @TestFactory
    fun `everything settles when a coroutine shuts the executor down`(): List<DynamicTest> =
        each("shuts the executor down") { point, executor, on ->
            reach(point, on) { executor.shutdownNow() }
            assertTrue(executor.awaitTermination(LIMIT_MS, TimeUnit.MILLISECONDS))
        }

    @Test
    fun `coroutines that hang do not hold up others`() {
        val executor = AdaptiveExecutor(processors = 2, elasticMax = 16)
        val release = CountDownLatch(1)
        val on = executor.asDispatcher(executor.site("coroutines"))
        val hanging = List(8) { CoroutineScope(SupervisorJob()).launch(on) { release.await() } }
        runBlocking { withTimeout(LIMIT_MS) { withContext(on) {} } }
        release.countDown()
        runBlocking { withTimeout(LIMIT_MS) { hanging.joinAll() } }
        assertWorks(executor, on)
    }

    private companion object {
        const val LIMIT_MS = 60_000L
    }
}
