// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.AdaptiveExecutor
import clearway.executor.Site
import clearway.executor.SiteOptions
import clearway.executor.ended
import clearway.executor.host.OwnThread
import clearway.executor.host.SystemClock
import clearway.executor.model.Costs
import clearway.executor.model.Observation
import clearway.executor.model.Placement
import clearway.executor.threads
import java.net.URLClassLoader
import java.util.concurrent.Callable
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CountDownLatch
import java.util.concurrent.CyclicBarrier
import java.util.concurrent.ExecutionException
import java.util.concurrent.FutureTask
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.condition.EnabledForJreRange
import org.junit.jupiter.api.condition.JRE

class WorkersTest {
    private val workers = Workers("one", max = 1, stayNs = TimeUnit.SECONDS.toNanos(20), spinNs = 0)

    private fun threadOf(workers: Workers): Thread {
        val job = FutureTask { Thread.currentThread() }
        workers.offer(job)
        return job.ended()
    }

    @Test
    @EnabledForJreRange(max = JRE.JAVA_19) // Later JDKs stop no thread.
    fun `a worker that an error ends outside of its jobs leaves its place to another one`() {
        val first = threadOf(workers)
        while (first.state != Thread.State.TIMED_WAITING) Thread.onSpinWait()
        Thread::class.java.getMethod("stop").invoke(first) // Throws ThreadDeath in the thread.
        first.join()
        assertEquals(0, workers.size)
        assertEquals(1, threadOf(workers).let { workers.size })
        workers.stop()
    }

    /** Blocks the only thread of `workers` until the returned latch opens. */
    private fun block(workers: Workers): CountDownLatch {
        val begun = CountDownLatch(1)
        val release = CountDownLatch(1)
        workers.offer {
            begun.countDown()
            release.await()
        }
        begun.await()
        return release
    }

    @Test
    fun `a job of stuck workers moves to other threads if they have room, and otherwise waits for its own workers`() {
        val others = Workers("other", max = 1, stayNs = TimeUnit.SECONDS.toNanos(20), spinNs = 0)
        val own = block(workers)
        val moved = FutureTask { Thread.currentThread().name }
        workers.offer(moved)
        while (!moved.isDone) workers.relieve(others)
        assertEquals("other-1", moved.get())
        val other = block(others)
        val waiting = FutureTask { Thread.currentThread().name }
        workers.offer(waiting)
        repeat(1_000) { assertTrue(workers.relieve(others)) }
        own.countDown()
        assertEquals("one-1", waiting.ended())
        other.countDown()
        workers.stop()
        others.stop()
    }
}

/** Tests a system that cannot start more threads. */
class NoThreadTest {
    private var refuses = true

    private fun start(thread: Thread) {
        if (refuses) throw OutOfMemoryError("unable to create native thread")
        thread.start()
    }

    private fun workers(max: Int) = Workers("scarce", max, TimeUnit.SECONDS.toNanos(20), spinNs = 0, start = ::start)

    private val workers = workers(2)

    private fun runner() = Runner(workers(2), workers(2), LiveCosts(Costs(processors = 2), SystemClock), SystemClock)

    private val sites = listOf(Site("any", SiteOptions()), Site("ordered", SiteOptions().ordered()))

    @Test
    fun `a thread that cannot start takes no place from others`() {
        repeat(5) { assertThrows(OutOfMemoryError::class.java) { workers.offer {} } }
        assertEquals(0, workers.size)
        refuses = false
        val ran = FutureTask { 1 }
        workers.offer(ran)
        assertEquals(1, ran.ended())
        workers.stop()
    }

    @Test
    fun `a job waits for the existing threads when no thread can start`() {
        refuses = false
        val first = FutureTask { 1 }
        workers.offer(first)
        first.ended()
        refuses = true
        val more = List(10) { FutureTask { it } }
        more.forEach(workers::offer)
        assertEquals((0 until 10).toList(), more.map { it.ended() })
        workers.stop()
    }

    @Test
    fun `a task is refused when no thread can start, and the next one runs when one can`() {
        for (site in sites) {
            refuses = true
            val runner = runner()
            val singles = Singles(runner, SystemClock)
            repeat(3) { assertThrows(RejectedExecutionException::class.java) { singles.execute(site) {} } }
            refuses = false
            val ran = FutureTask { 1 }
            singles.execute(site, ran)
            assertEquals(1, ran.ended())
            ends(runner)
        }
    }

    @Test
    fun `a batch without a waiting caller fails when no thread can start, and runs on its caller otherwise`() {
        for (site in sites) {
            val runner = runner()
            val future = BatchFuture<Void?>(null)
            runner.start(site, 3, future, EventThreads()) {}
            val failed = assertThrows(ExecutionException::class.java) { future.ended() }
            assertTrue(failed.cause is RejectedExecutionException)
            val ran = AtomicInteger()
            runner.run(site, 100) { ran.incrementAndGet() }
            assertEquals(100, ran.get())
            ends(runner)
        }
    }

    @Test
    fun `an asynchronous batch that sleeps gets a thread for each item, because no caller takes part`() {
        refuses = false
        val offered = AtomicInteger()
        val elastic = Threads { job -> Thread(job).also { offered.incrementAndGet() }.start() }
        val runner = Runner(workers(2), elastic, LiveCosts(Costs(processors = 2), SystemClock), SystemClock)
        val site = Site("sleeps", SiteOptions())
        // 20 batches of 8 items, each of which slept for 5 ms.
        repeat(20) {
            val sums = 8 * 5_000_000L
            site.observe(Observation(Placement.ELASTIC, 8, sums, 5_100_000, 8, sums, 8_000, slept = true))
        }
        val future = BatchFuture<Void?>(null)
        runner.start(site, 8, future, EventThreads()) {}
        future.ended()
        assertEquals(8, offered.get())
        ends(runner)
    }

    private fun ends(runner: Runner) {
        runner.shutdown()
        assertTrue(runner.lifecycle.await(1, TimeUnit.MINUTES))
    }
}

class OwnThreadTest {
    private val inherited = InheritableThreadLocal<String>()
    private val app = URLClassLoader("app", emptyArray(), javaClass.classLoader)

    /** Calls `act` on a thread of an application that brings everything that a thread can inherit. */
    private fun inApp(act: () -> Unit) {
        val done = CompletableFuture<Unit>()
        val caller =
            Thread(ThreadGroup("app")) {
                inherited.set("app")
                try {
                    done.complete(act())
                } catch (thrown: Throwable) {
                    done.completeExceptionally(thrown)
                }
            }
        caller.contextClassLoader = app
        caller.priority = Thread.MIN_PRIORITY
        caller.start()
        done.join()
    }

    @Test
    fun `no thread of an executor inherits from its first caller`() = inApp {
        val caller = Thread.currentThread()
        val seen = ConcurrentLinkedQueue<Pair<Thread, String?>>()
        val executor = AdaptiveExecutor(processors = 2, elasticMax = 8)
        val ours =
            executor.use {
                val together = CyclicBarrier(6)
                // All items wait for each other, so the batch needs workers and elastic threads.
                executor.runAll(executor.site("together"), 6) {
                    together.await()
                    if (Thread.currentThread() !== caller) seen += Thread.currentThread() to inherited.get()
                }
                executor.submit(Callable { seen.add(Thread.currentThread() to inherited.get()) }).get()
                assertEquals(6, seen.size)
                val started = threads()
                assertTrue(started.any { it.name == "clearway-watchdog" })
                for (thread in started) {
                    assertNotSame(caller.threadGroup, thread.threadGroup, thread.name)
                    assertEquals(Thread.NORM_PRIORITY, thread.priority, thread.name)
                }
                started + seen.map { it.first }
            }
        // While a thread runs an item, it has the context class loader of the batch's caller. Ended threads run none.
        for (thread in ours) thread.join()
        for (thread in ours) assertEquals(OwnThread.libraryLoader, thread.contextClassLoader, thread.name)
        for ((thread, value) in seen) assertEquals(null, value, thread.name)
    }
}
