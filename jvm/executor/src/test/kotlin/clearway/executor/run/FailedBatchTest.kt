// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.SystemClock
import clearway.executor.model.Placement
import clearway.executor.model.Plan
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Tests a batch whose threads claim four items at once, when an item fails. */
class FailedBatchTest {
    private val plan =
        Plan(
            Placement.CPU,
            helpers = 1,
            chunk = 4,
            bulk = true,
            timeItems = false,
            timeBatch = false,
            readCpu = false,
            helpAfterNs = 0,
            clockEvery = 4,
            predictedNs = 0.0,
        )

    @Test
    fun `a thread begins no further item of its chunk when an item on another thread has failed`() {
        val inFirst = CountDownLatch(1)
        val goOn = CountDownLatch(1)
        val begun = ConcurrentLinkedQueue<Int>()
        val ends = AtomicInteger()
        val body = Body { index ->
            begun += index
            if (index != 0) throw IllegalStateException("item $index")
            inFirst.countDown()
            goOn.await()
        }
        val ended = Batch.Ended { ends.incrementAndGet() }
        val batch = Batch(plan, 12, body, SystemClock, Context(emptyList()), true, Registry(), ended)
        val first = thread { batch.run() }
        inFirst.await()
        batch.run() // Runs item 4, which fails.
        assertFalse(batch.isOver)
        goOn.countDown()
        first.join()
        assertEquals(listOf(0, 4), begun.toList())
        assertEquals("item 4", batch.failure()?.message)
        assertTrue(batch.isOver)
        assertEquals(1, ends.get())
    }
}
