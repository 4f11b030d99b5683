// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.Site
import clearway.executor.SiteOptions
import clearway.executor.host.SystemClock
import clearway.executor.model.Costs
import clearway.executor.model.Observation
import clearway.executor.model.Placement
import java.util.concurrent.ExecutionException
import java.util.concurrent.FutureTask
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

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
        assertEquals(1, ran.get(1, TimeUnit.MINUTES))
        workers.stop()
    }

    @Test
    fun `a job waits for the existing threads when no thread can start`() {
        refuses = false
        val first = FutureTask { 1 }
        workers.offer(first)
        first.get(1, TimeUnit.MINUTES)
        refuses = true
        val more = List(10) { FutureTask { it } }
        more.forEach(workers::offer)
        assertEquals((0 until 10).toList(), more.map { it.get(1, TimeUnit.MINUTES) })
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
            assertEquals(1, ran.get(1, TimeUnit.MINUTES))
            ends(runner)
        }
    }

    @Test
    fun `a batch without a waiting caller fails when no thread can start, and runs on its caller otherwise`() {
        for (site in sites) {
            val runner = runner()
            val future = BatchFuture<Void?>(null)
            runner.start(site, 3, future, EventThreads()) {}
            val failed = assertThrows(ExecutionException::class.java) { future.get(1, TimeUnit.MINUTES) }
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
        future.get(1, TimeUnit.MINUTES)
        assertEquals(8, offered.get())
        ends(runner)
    }

    private fun ends(runner: Runner) {
        runner.shutdown()
        assertTrue(runner.lifecycle.await(1, TimeUnit.MINUTES))
    }
}
