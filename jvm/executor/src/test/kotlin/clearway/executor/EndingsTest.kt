// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import java.lang.ref.ReferenceQueue
import java.lang.ref.WeakReference
import java.net.URLClassLoader
import java.util.concurrent.Callable
import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.CyclicBarrier
import java.util.concurrent.ExecutorService
import java.util.concurrent.Future
import java.util.concurrent.FutureTask
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReference
import java.util.function.IntConsumer
import kotlin.concurrent.thread
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Tests that every task and every batch ends once, and reports its end. */
class EndingsTest : WithExecutor() {
    @Test
    fun `a task runs, is returned or is refused exactly once when it races with shutdownNow`() {
        repeat(150) { round ->
            val own = AdaptiveExecutor(processors = 2, elasticMax = 8)
            val site = own.site("tasks", if (round % 2 == 0) SiteOptions() else SiteOptions().ordered())
            val service = if (round % 4 < 2) own else own.asExecutorService(site)
            val ran = AtomicInteger()
            val refused = AtomicInteger()
            val meet = CyclicBarrier(3)
            val givers =
                List(2) {
                    thread {
                        meet.await()
                        repeat(50) {
                            try {
                                service.execute { ran.incrementAndGet() }
                            } catch (_: RejectedExecutionException) {
                                refused.incrementAndGet()
                            }
                        }
                    }
                }
            meet.await()
            repeat(round * 40) { Thread.onSpinWait() }
            val left = service.shutdownNow().size
            givers.forEach { it.join() }
            own.close()
            assertEquals(100, ran.get() + left + refused.get(), "round=$round")
        }
    }

    @Test
    fun `shutdownNow of a site's executor returns a task whose resubmission was refused`() {
        val service = executor.asExecutorService(ordered)
        val first = Hanging()
        service.execute(first)
        first.begun.await()
        val task = Runnable {}
        service.execute(task)
        executor.shutdown()
        assertThrows(RejectedExecutionException::class.java) { service.execute(task) }
        assertEquals(listOf(task), service.shutdownNow())
        assertTrue(service.awaitTermination(1, TimeUnit.MINUTES))
    }

    @Test
    fun `a cancelled batch completes when its items have ended, not before`() {
        val site = executor.site("stubborn")
        val begun = CountDownLatch(2)
        val end = CountDownLatch(1)
        val running = AtomicInteger()
        val future =
            executor.runAllAsync(site, (0 until 20).toList()) {
                running.incrementAndGet()
                begun.countDown()
                while (end.count > 0) Thread.onSpinWait() // An interrupt does not end this loop.
                running.decrementAndGet()
            }
        begun.await()
        assertTrue(future.cancel(true))
        assertFalse(future.isDone)
        end.countDown()
        assertThrows(CancellationException::class.java) { future.ended() }
        assertTrue(future.isCancelled)
        assertEquals(0, running.get())
    }

    @Test
    fun `batches and tasks of an ordered site wait for each other in any order`() {
        val inside = AtomicInteger()
        val overlaps = AtomicInteger()
        var count = 0 // Needs no lock: the site runs its items in order.
        fun item() {
            if (inside.incrementAndGet() != 1) overlaps.incrementAndGet()
            count++
            inside.decrementAndGet()
        }
        val service = executor.asExecutorService(ordered)
        val meet = CyclicBarrier(4)
        val callers =
            List(2) {
                thread {
                    meet.await()
                    repeat(200) { executor.runAll(ordered, 20) { item() } }
                }
            }
        val starter = thread {
            meet.await()
            List(200) { executor.runAllAsync(ordered, (0 until 20).toList()) { item() } }.forEach { it.get() }
        }
        meet.await()
        List(2000) { service.submit { item() } }.forEach { it.get() }
        (callers + starter).forEach { it.join() }
        assertEquals(0, overlaps.get())
        executor.runAll(ordered, 1) { assertEquals(2 * 200 * 20 + 200 * 20 + 2000, count) }
    }

    @Test
    fun `a batch that an item runs on its own ordered site is part of the item`() {
        val seen = ArrayList<Int>()
        executor.runAll(ordered, 2) { outer -> executor.runAll(ordered, 2) { seen += outer * 10 + it } }
        executor
            .runAllAsync(ordered, listOf(2)) { outer -> executor.runAll(ordered, 2) { seen += outer * 10 + it } }
            .ended()
        executor.asExecutorService(ordered).submit { executor.runAll(ordered, 2) { seen += 30 + it } }.get()
        assertEquals(listOf(0, 1, 10, 11, 20, 21, 30, 31), seen)
    }

    @Test
    fun `a wait for the turn of an ordered site ends by an interrupt, a cancel or shutdownNow`() {
        val begun = CountDownLatch(1)
        val end = CountDownLatch(1)
        val first =
            executor.runAllAsync(ordered, listOf(1)) {
                begun.countDown()
                while (end.count > 0) Thread.onSpinWait()
            }
        begun.await()
        val (caller, interrupted) = elsewhere { executor.runAll(ordered, 1) {} }
        caller.interrupt()
        assertTrue(interrupted.ended() is InterruptedException)
        val cancelled = executor.runAllAsync(ordered, listOf(1)) { throw AssertionError("it was cancelled") }
        cancelled.cancel(true)
        assertThrows(CancellationException::class.java) { cancelled.ended() }
        val (_, stopped) = elsewhere { executor.runAll(ordered, 1) { throw AssertionError("it was stopped") } }
        val left = executor.runAllAsync(ordered, listOf(1)) { throw AssertionError("it was stopped") }
        // The thread of `stopped` either waits for its turn, or will find the executor shut down.
        executor.shutdownNow()
        val why = stopped.ended()
        assertTrue(why is CancellationException || why is RejectedExecutionException, "$why")
        assertThrows(CancellationException::class.java) { left.ended() }
        end.countDown()
        assertThrows(CancellationException::class.java) { first.ended() }
    }

    private class Mute : RuntimeException() {
        override fun toString(): String = throw IllegalStateException("toString throws")
    }

    @Test
    fun `stages that depend on a task or a batch complete when the toString of its exception throws`() {
        val site = executor.site("fails")
        val futures =
            listOf(site, ordered).flatMap {
                listOf<CompletableFuture<*>>(
                    executor.callAsync<Any?>(it) { throw Mute() },
                    executor.runAllAsync(it, listOf(1)) { throw Mute() },
                    executor.mapAllAsync<Int, Any?>(it, listOf(1)) { throw Mute() },
                )
            }
        for (future in futures) {
            val failed = future.thenApply {}.handle { _, thrown -> thrown != null }
            assertTrue(failed.ended())
        }
    }

    @Test
    fun `the constructor keeps the interrupt flag of its caller`() {
        val made = AtomicReference<AdaptiveExecutor>()
        val (_, outcome) =
            elsewhere {
                Thread.currentThread().interrupt()
                made.set(AdaptiveExecutor(processors = 2, elasticMax = 8))
                check(Thread.currentThread().isInterrupted) { "the interrupt is lost" }
            }
        assertEquals(null, outcome.ended())
        made.get().close()
    }

    @Test
    fun `close returns when a task resubmits itself without end`() {
        val begun = CountDownLatch(1)
        val refused = CompletableFuture<Throwable>()
        fun again() {
            begun.countDown()
            try {
                executor.execute(::again)
            } catch (thrown: RejectedExecutionException) {
                refused.complete(thrown)
            }
        }
        executor.execute(::again)
        begun.await()
        executor.close()
        assertTrue(refused.ended() is RejectedExecutionException)
    }
}

/** Tests that an executor leaves no threads and no classes behind. */
class LeftoversTest {
    private fun leavesNoThread(end: (AdaptiveExecutor) -> Unit) {
        val before = threads()
        val executor = AdaptiveExecutor(processors = 2, elasticMax = 8)
        val site = executor.site("work")
        repeat(20) { executor.runAll(site, 100) { Thread.onSpinWait() } }
        val both = CountDownLatch(2)
        executor.runAll(executor.site("waits"), 2) {
            both.countDown()
            both.await()
        }
        executor.submit {}.get()
        val own = threads() - before
        assertFalse(own.isEmpty())
        end(executor)
        assertNoneLeft(before, others = own)
    }

    @Test fun `no thread remains after close`() = leavesNoThread { it.close() }

    @Test fun `no thread remains after shutdown when all work has ended`() = leavesNoThread { it.shutdown() }

    @Test fun `no thread remains after shutdownNow`() = leavesNoThread { it.shutdownNow() }

    /** Loads a second copy of the executor's classes, separate from the tests' copy. */
    private class Apart : URLClassLoader(arrayOf(AdaptiveExecutor::class.java.protectionDomain.codeSource.location)) {
        override fun loadClass(name: String, resolve: Boolean): Class<*> {
            if (!name.startsWith("clearway.executor.")) return super.loadClass(name, resolve)
            return synchronized(getClassLoadingLock(name)) { findLoadedClass(name) ?: findClass(name) }
        }
    }

    /**
     * Uses an executor from a class loader of its own, on this thread, which continues to live. Returns that class
     * loader.
     */
    private fun use(stop: String): ClassLoader {
        val apart = Apart()
        val type = apart.loadClass(AdaptiveExecutor::class.java.name)
        val siteType = apart.loadClass(Site::class.java.name)
        val executor = type.getConstructor(Int::class.java, Int::class.java).newInstance(2, 8)
        val site = type.getMethod("site", String::class.java).invoke(executor, "work")
        val runAll = type.getMethod("runAll", siteType, Int::class.java, IntConsumer::class.java)
        repeat(20) { runAll.invoke(executor, site, 10, IntConsumer {}) }
        val task = FutureTask { 1 }
        type.getMethod("execute", Runnable::class.java).invoke(executor, task)
        task.get()
        type.getMethod(stop).invoke(executor)
        type.getMethod("close").invoke(executor)
        return apart
    }

    @Test
    fun `threads and task classes that used an executor keep none of its classes loaded`() {
        for (stop in listOf("close", "shutdownNow")) {
            val gone = ReferenceQueue<ClassLoader>()
            val loader = WeakReference(use(stop), gone)
            // The classes can be unloaded only after the executor's threads have ended, which takes some time.
            while (gone.remove(100) == null) System.gc()
            assertFalse(loader.get() != null)
        }
    }
}

/** The contract of `ExecutorService`, for the executor itself and for the tasks of one site. */
abstract class ExecutorServiceContract : WithExecutor() {
    protected abstract val service: ExecutorService

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
        val first = Hanging()
        service.execute(first)
        first.begun.await()
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
