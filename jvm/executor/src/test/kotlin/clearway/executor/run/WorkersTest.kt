// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import java.util.concurrent.CountDownLatch
import java.util.concurrent.FutureTask
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.condition.EnabledForJreRange
import org.junit.jupiter.api.condition.JRE

class WorkersTest {
    private val workers = Workers("one", max = 1, stayNs = TimeUnit.SECONDS.toNanos(20), spinNs = 0)

    private fun threadOf(workers: Workers): Thread {
        val job = FutureTask { Thread.currentThread() }
        workers.offer(job)
        return job.get(1, TimeUnit.MINUTES)
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
        assertEquals("one-1", waiting.get(1, TimeUnit.MINUTES))
        other.countDown()
        workers.stop()
        others.stop()
    }
}
