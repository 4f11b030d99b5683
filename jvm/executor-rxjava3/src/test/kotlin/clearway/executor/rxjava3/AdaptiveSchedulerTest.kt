// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.rxjava3

import clearway.executor.AdaptiveExecutor
import clearway.executor.SiteOptions
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
import org.junit.jupiter.api.Test

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
