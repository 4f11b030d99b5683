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
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.CyclicBarrier
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReference
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

class AdaptiveSchedulerTest {
    private val executor = AdaptiveExecutor(processors = 2, elasticMax = 64)
    private val scheduler = executor.asScheduler(executor.site("rx"))

    @AfterEach
    fun close() {
        RxJavaPlugins.reset()
        executor.shutdownNow()
        executor.close()
    }

    @Test
    fun `a subscription runs on a thread other than its caller's and returns its result`() {
        val thread = Single.fromCallable { Thread.currentThread() }.subscribeOn(scheduler).blockingGet()
        assertNotSame(Thread.currentThread(), thread)
    }

    @Test
    fun `subscriptions that block on a common barrier all finish`() {
        val barrier = CyclicBarrier(20)
        Flowable.range(0, 20)
            .flatMapCompletable { Completable.fromAction { barrier.await() }.subscribeOn(scheduler) }
            .blockingAwait()
    }

    @Test
    fun `a worker runs its tasks in order, one at a time`() {
        val worker = scheduler.createWorker()
        val seen = ArrayList<Int>() // Needs no lock: the work runs in order.
        val inside = AtomicInteger()
        val overlapped = AtomicInteger()
        val done = CountDownLatch(1_000)
        repeat(1_000) {
            worker.schedule {
                if (inside.incrementAndGet() != 1) overlapped.incrementAndGet()
                seen += it
                inside.decrementAndGet()
                done.countDown()
            }
        }
        done.await()
        assertEquals((0 until 1_000).toList(), seen)
        assertEquals(0, overlapped.get())
        worker.dispose()
    }

    @Test
    fun `two workers do not wait for each other`() {
        val both = CyclicBarrier(2)
        val done = CountDownLatch(2)
        val workers = List(2) { scheduler.createWorker() }
        for (worker in workers) worker.schedule {
            both.await()
            done.countDown()
        }
        done.await()
        workers.forEach { it.dispose() }
    }

    @Test
    fun `observeOn keeps the order of the items`() {
        val seen = Flowable.range(0, 5_000).observeOn(scheduler).map { it }.toList().blockingGet()
        assertEquals((0 until 5_000).toList(), seen)
    }

    @Test
    fun `delayed work holds no thread until it runs`() {
        val narrow = executor.asScheduler(executor.site("one at a time", SiteOptions().ordered()))
        val far = narrow.scheduleDirect({ throw AssertionError("an hour is not over") }, 1, TimeUnit.HOURS)
        // None of this work would run if the delay held the thread.
        val soon = CountDownLatch(1)
        narrow.scheduleDirect(soon::countDown, 1, TimeUnit.MILLISECONDS)
        soon.await()
        far.dispose()
        assertTrue(far.isDisposed)
    }

    @Test
    fun `periodic work repeats until it is disposed`() {
        val ticks = CountDownLatch(5)
        val ticking = scheduler.schedulePeriodicallyDirect(ticks::countDown, 0, 1, TimeUnit.MILLISECONDS)
        ticks.await()
        ticking.dispose()
        assertTrue(ticking.isDisposed)
    }

    @Test
    fun `disposing of running work interrupts it, and its thread then serves others uninterrupted`() {
        val begun = CountDownLatch(1)
        val interrupted = CountDownLatch(1)
        val running =
            scheduler.scheduleDirect {
                begun.countDown()
                try {
                    CountDownLatch(1).await()
                } catch (stop: InterruptedException) {
                    interrupted.countDown()
                }
            }
        begun.await()
        running.dispose()
        interrupted.await()
        repeat(50) {
            assertFalse(
                Single.fromCallable { Thread.currentThread().isInterrupted }.subscribeOn(scheduler).blockingGet()
            )
        }
    }

    @Test
    fun `work that disposes of its own worker sees no interrupt`() {
        val ordered = executor.asScheduler(executor.site("ordered", SiteOptions().ordered()))
        for (each in listOf(scheduler, ordered)) repeat(50) {
            val numbers = Flowable.range(1, 10).observeOn(each)
            assertFalse(numbers.firstOrError().map { Thread.currentThread().isInterrupted }.blockingGet())
            assertEquals(false, numbers.firstElement().map { Thread.currentThread().isInterrupted }.blockingGet())
            assertFalse(numbers.take(1).map { Thread.currentThread().isInterrupted }.blockingLast())
            val worker = each.createWorker()
            val seen = CompletableFuture<Boolean>()
            worker.schedule {
                worker.dispose()
                seen.complete(Thread.currentThread().isInterrupted)
            }
            assertFalse(seen.get())
            val own = CompletableFuture<Boolean>()
            val handle = CompletableFuture<Disposable>()
            handle.complete(
                each.createWorker().schedule {
                    handle.get().dispose()
                    own.complete(Thread.currentThread().isInterrupted)
                }
            )
            assertFalse(own.get())
        }
    }

    @Test
    fun `disposing of a worker interrupts its running task, and its thread then serves others uninterrupted`() {
        repeat(20) {
            val worker = scheduler.createWorker()
            val begun = CountDownLatch(1)
            val interrupted = CountDownLatch(1)
            worker.schedule {
                begun.countDown()
                try {
                    CountDownLatch(1).await()
                } catch (stop: InterruptedException) {
                    interrupted.countDown()
                }
            }
            begun.await()
            worker.dispose()
            interrupted.await()
            assertFalse(
                Single.fromCallable { Thread.currentThread().isInterrupted }.subscribeOn(scheduler).blockingGet()
            )
        }
    }

    @Test
    fun `a disposed task is interrupted, and the worker's next task runs uninterrupted`() {
        val worker = scheduler.createWorker()
        val begun = CountDownLatch(1)
        val next = CompletableFuture<Boolean>()
        val task =
            worker.schedule {
                begun.countDown()
                try {
                    CountDownLatch(1).await()
                } catch (stop: InterruptedException) {
                    Thread.currentThread().interrupt()
                }
            }
        worker.schedule { next.complete(Thread.currentThread().isInterrupted) }
        begun.await()
        task.dispose()
        assertFalse(next.get())
        worker.dispose()
    }

    @Test
    fun `a disposed worker never runs its queued tasks`() {
        val worker = scheduler.createWorker()
        val go = CountDownLatch(1)
        val begun = CountDownLatch(1)
        val ran = AtomicInteger()
        worker.schedule {
            begun.countDown()
            try {
                go.await()
            } catch (stop: InterruptedException) {
                // Disposing of the worker interrupts its work.
            }
        }
        repeat(10) { worker.schedule { ran.incrementAndGet() } }
        begun.await()
        worker.dispose()
        go.countDown()
        // `close` returns when none of the executor's work runs any more.
        executor.close()
        assertEquals(0, ran.get())
    }

    @Test
    fun `an error reaches the subscriber`() {
        val failing = Completable.fromAction { error("from the scheduler") }.subscribeOn(scheduler)
        assertThrows(IllegalStateException::class.java) { failing.blockingAwait() }
    }

    @Test
    fun `work after the end of the executor goes to RxJava's error handler`() {
        val told = AtomicReference<Throwable>()
        RxJavaPlugins.setErrorHandler(told::set)
        executor.shutdown()
        assertTrue(scheduler.scheduleDirect {}.isDisposed)
        assertInstanceOf(RejectedExecutionException::class.java, told.get().cause ?: told.get())
    }
}

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
