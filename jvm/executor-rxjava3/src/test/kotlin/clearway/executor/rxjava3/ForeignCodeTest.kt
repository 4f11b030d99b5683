// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.rxjava3

import clearway.executor.AdaptiveExecutor
import clearway.executor.SiteOptions
import io.reactivex.rxjava3.core.Completable
import io.reactivex.rxjava3.core.Flowable
import io.reactivex.rxjava3.core.Scheduler
import io.reactivex.rxjava3.core.Single
import io.reactivex.rxjava3.disposables.Disposable
import io.reactivex.rxjava3.plugins.RxJavaPlugins
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

/** Tests work that throws anything, hangs, or calls the executor, at every point where the scheduler runs it. */
class ForeignCodeTest {
    /** A point where foreign code runs. `reach` triggers it. */
    private class Point(val name: String, val reach: (on: Scheduler, foreign: () -> Unit) -> Unit)

    private val points =
        listOf(
            Point("work that is scheduled") { on, foreign -> on.scheduleDirect(foreign) },
            Point("delayed work") { on, foreign -> on.scheduleDirect(foreign, 1, TimeUnit.MILLISECONDS) },
            Point("periodic work") { on, foreign -> on.schedulePeriodicallyDirect(foreign, 0, 1, TimeUnit.MINUTES) },
            Point("a worker's work") { on, foreign -> on.createWorker().schedule(foreign) },
            Point("a worker's delayed work") { on, foreign ->
                on.createWorker().schedule(foreign, 1, TimeUnit.MILLISECONDS)
            },
            Point("a source") { on, foreign -> Completable.fromAction { foreign() }.subscribeOn(on).subscribe({}, {}) },
            Point("an operator") { on, foreign -> Flowable.range(0, 10).observeOn(on).subscribe({ foreign() }, {}) },
            Point("what follows an error") { on, foreign ->
                Completable.error(IllegalStateException("first")).observeOn(on).subscribe({}, { foreign() })
            },
            Point("what disposing calls") { on, foreign ->
                on.scheduleDirect { Disposable.fromAction { foreign() }.dispose() }
            },
        )

    private val throwing =
        mapOf<String, () -> Nothing>(
            "an exception" to { throw IllegalStateException("broken") },
            "an Error" to { throw AssertionError("broken") },
            "TODO()" to { TODO() },
            "a StackOverflowError" to { throw StackOverflowError() },
        )

    @BeforeEach fun quiet(): Unit = RxJavaPlugins.setErrorHandler {}

    @AfterEach fun loud(): Unit = RxJavaPlugins.reset()

    private fun each(test: String, act: (Point, AdaptiveExecutor, Scheduler) -> Unit): List<DynamicTest> =
        points.flatMap { point ->
            listOf(false, true).map { ordered ->
                dynamicTest("${point.name} $test, ordered: $ordered") {
                    val executor = AdaptiveExecutor(processors = 2, elasticMax = 16)
                    try {
                        val options = if (ordered) SiteOptions().ordered() else SiteOptions()
                        act(point, executor, executor.asScheduler(executor.site("rx", options)))
                    } finally {
                        executor.shutdownNow()
                    }
                }
            }
        }

    private fun reach(point: Point, on: Scheduler, foreign: () -> Unit) {
        val reached = CountDownLatch(1)
        point.reach(on) {
            reached.countDown()
            foreign()
        }
        assertTrue(reached.await(LIMIT_S, TimeUnit.SECONDS), "the point was not reached")
    }

    private fun assertWorks(executor: AdaptiveExecutor, on: Scheduler) {
        val sum =
            Flowable.range(0, 50)
                .flatMapSingle { item -> Single.fromCallable { item }.subscribeOn(on) }
                .reduce(0) { a, b -> a + b }
                .timeout(LIMIT_S, TimeUnit.SECONDS)
                .blockingGet()
        assertEquals(1225, sum)
        executor.shutdown()
        assertTrue(executor.awaitTermination(LIMIT_S, TimeUnit.SECONDS))
    }

    @TestFactory
    fun `the scheduler goes on when work throws`(): List<DynamicTest> =
        throwing.flatMap { (what, thrown) ->
            each("throws $what") { point, executor, on ->
                reach(point, on) { thrown() }
                assertWorks(executor, on)
            }
        }

    @TestFactory
    fun `the scheduler goes on when work calls the executor`(): List<DynamicTest> =
        each("calls the executor") { point, executor, on ->
            val site = executor.site("inner")
            reach(point, on) { executor.runAll(site, 10) {} }
            assertWorks(executor, on)
        }

    @TestFactory
    fun `the executor ends when work shuts it down`(): List<DynamicTest> =
        each("shuts the executor down") { point, executor, on ->
            reach(point, on) { executor.shutdownNow() }
            assertTrue(executor.awaitTermination(LIMIT_S, TimeUnit.SECONDS))
        }

    @Test
    fun `work that hangs does not hold up other work`() {
        val executor = AdaptiveExecutor(processors = 2, elasticMax = 16)
        val on = executor.asScheduler(executor.site("rx"))
        val release = CountDownLatch(1)
        val ended = CountDownLatch(8)
        repeat(8) {
            on.scheduleDirect {
                release.await()
                ended.countDown()
            }
        }
        val ran = CountDownLatch(1)
        on.scheduleDirect { ran.countDown() }
        assertTrue(ran.await(LIMIT_S, TimeUnit.SECONDS))
        release.countDown()
        assertTrue(ended.await(LIMIT_S, TimeUnit.SECONDS))
        assertWorks(executor, on)
    }

    private companion object {
        const val LIMIT_S = 60L
    }
}
