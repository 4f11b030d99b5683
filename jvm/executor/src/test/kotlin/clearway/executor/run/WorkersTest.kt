// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import java.util.concurrent.FutureTask
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
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
}
