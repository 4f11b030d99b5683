// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import clearway.executor.host.Clock
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executor
import java.util.concurrent.FutureTask
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicLong
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class SinglesMeasuredTest {
    /** A clock whose readings take 100 ns each. It counts the readings of CPU time. */
    private class Counted : Clock {
        val now = AtomicLong()
        val cpuReadings = AtomicInteger()

        override fun nanoTime(): Long = now.addAndGet(100)

        override fun threadCpuNs(): Long = now.get().also { cpuReadings.incrementAndGet() }

        override fun cpuNsOf(thread: Thread): Long = -1

        override fun processCpuNs(): Long = -1

        override fun collections(): Long = 0
    }

    private val clock = Counted()
    private val executor = AdaptiveExecutor(processors = 1, elasticMax = 4, clock)
    private val ordered: Executor = executor.asExecutorService(executor.site("ordered", SiteOptions().ordered()))

    @AfterEach fun close(): Unit = executor.close()

    /**
     * Returns how often the executor reads the CPU time during `count` tasks. Each task begins when the task before has
     * ended.
     */
    private fun readings(count: Int, task: () -> Unit): Int {
        val before = clock.cpuReadings.get()
        repeat(count) { one(task) }
        one {} // When this task has ended, the executor has learnt from the one before.
        return clock.cpuReadings.get() - before
    }

    private fun one(task: () -> Unit) {
        val done = FutureTask(task, Unit)
        ordered.execute(done)
        done.get()
    }

    @Test
    fun `a task can wait for a later one on one processor and a site that never waited`() {
        val site = executor.asExecutorService(executor.site("never waited"))
        repeat(300) { site.submit {}.get() }
        val later = CountDownLatch(1)
        val waits = site.submit { later.await() }
        site.submit { later.countDown() }
        waits.get()
    }

    @Test
    fun `one of many trivial tasks is measured when the site is known`() {
        val cold = readings(4) {}
        assertTrue(cold >= 8, "cold=$cold")
        val warm = readings(640) {}
        assertTrue(warm in 10..30, "warm=$warm")
    }

    @Test
    fun `all next tasks are measured after a long unmeasured one`() {
        readings(10) {}
        one { clock.now.addAndGet(5_000_000) }
        val watched = readings(32) {}
        assertTrue(watched >= 60, "watched=$watched")
    }
}
