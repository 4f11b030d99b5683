// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.AdaptiveExecutor
import clearway.executor.elsewhere
import clearway.executor.ended
import clearway.executor.host.Clock
import clearway.executor.host.SystemClock
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Tests errors that no item throws, on the thread that runs a batch. A stack that is full or a heap without memory may
 * throw them at any point. Here, the clock throws them.
 */
class AbandonedBatchTest {
    private class Broken(private val real: Clock = SystemClock) : Clock by real {
        /** The thread for which the clock throws; null for none. */
        @Volatile var thread: Thread? = null

        override fun nanoTime(): Long =
            if (Thread.currentThread() === thread) throw StackOverflowError("full") else real.nanoTime()
    }

    private val clock = Broken()
    private val executor = AdaptiveExecutor(2, 64, clock)

    @Test
    fun `a call throws the error only when no item of its batch runs any more, and no more items begin`() {
        val helped = CountDownLatch(1)
        val goOn = CountDownLatch(1)
        val begun = AtomicInteger()
        val running = AtomicInteger()
        val seen = ArrayList<Int>()
        val (caller, outcome) =
            elsewhere {
                val me = Thread.currentThread()
                try {
                    executor.runAll(executor.site("site"), 1_000) {
                        begun.incrementAndGet()
                        running.incrementAndGet()
                        if (Thread.currentThread() === me) {
                            helped.await()
                            clock.thread = me
                        } else {
                            helped.countDown()
                            goOn.await()
                        }
                        running.decrementAndGet()
                    }
                } finally {
                    clock.thread = null
                    seen += listOf(running.get(), begun.get())
                }
            }
        // The items of the other threads go on when the caller waits for them, or does not.
        while (clock.thread == null && !outcome.isDone) Thread.onSpinWait()
        while (caller.state == Thread.State.RUNNABLE && !outcome.isDone) Thread.onSpinWait()
        goOn.countDown()
        assertTrue(outcome.ended() is StackOverflowError)
        executor.close()
        assertEquals(listOf(0, begun.get()), seen)
    }

    @Test
    fun `a trivial batch that an error ends is withdrawn, and the executor ends`() {
        val site = executor.site("trivial")
        repeat(1_000) { executor.runAll(site, 100) {} }
        var thrown = 0
        clock.thread = Thread.currentThread()
        repeat(500) {
            try {
                executor.runAll(site, 100) {}
            } catch (_: StackOverflowError) {
                thrown++
            }
            assertEquals(0, executor.status().batchesRunning, "after $it batches and $thrown errors")
        }
        clock.thread = null
        assertTrue(thrown > 0)
        executor.shutdown()
        assertTrue(executor.awaitTermination(1, TimeUnit.MINUTES))
    }
}
