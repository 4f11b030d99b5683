// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.Carriers
import clearway.executor.host.SystemClock
import clearway.executor.model.Placement
import clearway.executor.model.Plan
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ThreadFactory
import java.util.concurrent.atomic.AtomicInteger
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Tests the limit of threads in one batch where no pool limits them. */
class BatchLimitTest {
    private val noCarriers =
        object : Carriers {
            override fun add(count: Int) = 0

            override fun remove(count: Int) {}
        }
    private val plan =
        Plan(
            Placement.CPU,
            helpers = 3,
            chunk = 1,
            bulk = false,
            timeItems = false,
            timeBatch = false,
            readCpu = false,
            helpAfterNs = 0,
            clockEvery = 1,
            predictedNs = 0.0,
        )

    @Test
    fun `no more threads join a batch than the limit, however many are asked`() {
        val goOn = CountDownLatch(1)
        val refused = CountDownLatch(2)
        val threads = ConcurrentLinkedQueue<Thread>()
        val now = AtomicInteger()
        val most = AtomicInteger()
        val body = Body {
            most.accumulateAndGet(now.incrementAndGet(), ::maxOf)
            goOn.await()
            now.decrementAndGet()
        }
        val factory = ThreadFactory { job -> Thread { job.run().also { refused.countDown() } }.also(threads::add) }
        val jobs = VirtualJobs(factory, noCarriers, batchMax = 2)
        val batch = Batch(plan, 12, body, SystemClock, Context(emptyList()), true, Registry(), null)
        repeat(4) { jobs.offer(batch) }
        refused.await() // Two threads return while the two others are in items.
        goOn.countDown()
        threads.forEach(Thread::join)
        assertEquals(2, most.get())
    }
}
