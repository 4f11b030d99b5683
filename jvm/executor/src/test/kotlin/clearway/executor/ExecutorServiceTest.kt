// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import java.util.concurrent.Callable
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutorService
import java.util.concurrent.Future
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The contract of `ExecutorService`, for the executor itself and for the tasks of one site. */
abstract class ExecutorServiceContract {
    protected val executor = AdaptiveExecutor(processors = 2, elasticMax = 64)
    protected abstract val service: ExecutorService

    @AfterEach
    fun close() {
        executor.shutdownNow()
        executor.close()
    }

    @Test
    fun `a task runs on another thread even when its site is trivial`() {
        val me = Thread.currentThread()
        repeat(300) { assertNotSame(me, service.submit(Callable { Thread.currentThread() }).get()) }
    }

    @Test
    fun `invokeAll returns the results in the order of the tasks`() {
        val results = service.invokeAll((1..200).map { n -> Callable { n * n } })
        assertEquals((1..200).map { it * it }, results.map { it.get() })
    }

    @Test
    fun `shutdown refuses new tasks and runs accepted ones`() {
        val gate = CountDownLatch(1)
        val ran = AtomicInteger()
        val taken: List<Future<*>> =
            (1..10).map {
                service.submit {
                    gate.await()
                    ran.incrementAndGet()
                }
            }
        service.shutdown()
        assertThrows(RejectedExecutionException::class.java) { service.execute {} }
        assertFalse(service.isTerminated)
        gate.countDown()
        assertTrue(service.awaitTermination(1, TimeUnit.MINUTES))
        taken.forEach { it.get() }
        assertEquals(10, ran.get())
    }

    @Test
    fun `shutdownNow interrupts running tasks and returns all others`() {
        val begun = AtomicInteger()
        val interrupted = AtomicInteger()
        val first = CountDownLatch(1)
        repeat(50) {
            service.execute {
                begun.incrementAndGet()
                first.countDown()
                try {
                    CountDownLatch(1).await()
                } catch (_: InterruptedException) {
                    interrupted.incrementAndGet()
                }
            }
        }
        first.await()
        val left = service.shutdownNow()
        assertTrue(service.awaitTermination(1, TimeUnit.MINUTES))
        assertEquals(50, begun.get() + left.size)
        assertEquals(begun.get(), interrupted.get())
    }

    @Test
    fun `an exception of a task ends only that task`() {
        val handled = CountDownLatch(1)
        val before = Thread.getDefaultUncaughtExceptionHandler()
        Thread.setDefaultUncaughtExceptionHandler { _, _ -> handled.countDown() }
        try {
            service.execute { throw IllegalStateException("told to the handler") }
            handled.await()
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before)
        }
        assertEquals(1, service.submit(Callable { 1 }).get())
    }
}

class AdaptiveExecutorServiceTest : ExecutorServiceContract() {
    override val service: ExecutorService = executor
}

class SiteExecutorServiceTest : ExecutorServiceContract() {
    override val service: ExecutorService = executor.asExecutorService(executor.site("tasks"))
}

class OrderedSiteExecutorServiceTest : ExecutorServiceContract() {
    override val service: ExecutorService =
        executor.asExecutorService(executor.site("tasks in order", SiteOptions().ordered()))

    @Test
    fun `tasks of an ordered site run in submission order, one at a time`() {
        val seen = ArrayList<Int>() // Needs no lock: the tasks run in order.
        val futures = (0 until 1_000).map { n -> service.submit { seen += n } }
        futures.forEach { it.get() }
        assertEquals((0 until 1_000).toList(), seen)
    }

    /** Checks that `stop` returns the waiting tasks of the site in submission order. */
    private fun assertOrder(stop: () -> List<Runnable>) {
        val begun = CountDownLatch(1)
        service.execute {
            begun.countDown()
            CountDownLatch(1).await()
        }
        begun.await()
        val ran = ArrayList<Int>()
        val tasks = List(100) { n -> Runnable { ran += n } }
        tasks.forEach(service::execute)
        assertEquals(tasks, stop())
    }

    @Test
    fun `shutdownNow of an ordered site's executor returns the waiting tasks in submission order`() = assertOrder {
        service.shutdownNow()
    }

    @Test
    fun `shutdownNow of the executor returns an ordered site's waiting tasks in submission order`() = assertOrder {
        executor.shutdownNow()
    }
}
