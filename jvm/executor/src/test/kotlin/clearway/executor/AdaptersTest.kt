// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import clearway.executor.micrometer.AdaptiveExecutorMetrics
import clearway.executor.rxjava3.asScheduler
import io.micrometer.core.instrument.Tags
import io.micrometer.core.instrument.simple.SimpleMeterRegistry
import io.reactivex.rxjava3.core.Completable
import io.reactivex.rxjava3.core.Flowable
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
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

class AdaptiveSchedulerTest : WithExecutor() {
    private val scheduler = executor.asScheduler(executor.site("rx"))

    @AfterEach fun reset(): Unit = RxJavaPlugins.reset()

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
        val narrow = executor.asScheduler(ordered)
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

    @TestFactory
    fun `disposing interrupts the work that runs, and its thread then serves others uninterrupted`():
        List<DynamicTest> {
        val ways =
            mapOf<String, (Runnable) -> Disposable>(
                "of running work" to { work -> scheduler.scheduleDirect(work) },
                "of a worker" to { work -> scheduler.createWorker().also { it.schedule(work) } },
            )
        return ways.map { (name, start) ->
            dynamicTest(name) {
                RxJavaPlugins.setErrorHandler {} // It receives the exceptions of the interrupted work.
                repeat(20) {
                    val work = Hanging()
                    val running = start(work)
                    work.begun.await()
                    running.dispose()
                    work.interrupted.await()
                    repeat(5) { assertFalse(isInterrupted()) }
                }
            }
        }
    }

    /** Returns whether a task of the scheduler finds its thread interrupted. */
    private fun isInterrupted(): Boolean =
        Single.fromCallable { Thread.currentThread().isInterrupted }.subscribeOn(scheduler).blockingGet()

    @Test
    fun `work that disposes of its own worker sees no interrupt`() {
        for (each in listOf(scheduler, executor.asScheduler(ordered))) repeat(50) {
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

class AdaptiveExecutorMetricsTest {
    private val registry = SimpleMeterRegistry()

    private fun gauge(id: String) = registry.get(id).tag("name", "work").gauge().value().toInt()

    @Test
    fun `the metrics show the tasks that wait, run and have ended`() {
        AdaptiveExecutor(processors = 2).use { executor ->
            AdaptiveExecutorMetrics(executor, "work", Tags.of("app", "shop")).bindTo(registry)
            val ordered = executor.site("ordered", SiteOptions().ordered())
            val began = CountDownLatch(1)
            val go = CountDownLatch(1)
            val tasks =
                List(3) {
                    executor.callAsync(ordered) {
                        began.countDown()
                        go.await()
                    }
                }
            began.await()
            assertEquals(1, gauge("executor.active"))
            assertEquals(2, gauge("executor.queued"))
            assertEquals(2, gauge("executor.pool.max"))
            assertEquals(1, gauge("clearway.executor.sites"))
            assertEquals(0, gauge("clearway.executor.batches"))
            go.countDown()
            CompletableFuture.allOf(*tasks.toTypedArray()).ended()
            assertEquals(0, gauge("executor.active"))
            assertEquals(3.0, registry.get("executor.completed").tag("app", "shop").functionCounter().count())
        }
    }
}
