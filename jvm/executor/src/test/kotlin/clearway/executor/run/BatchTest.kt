// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.AdaptiveExecutor
import clearway.executor.host.Carriers
import clearway.executor.host.SystemClock
import clearway.executor.model.Placement
import clearway.executor.model.Plan
import java.nio.file.Files
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ThreadFactory
import java.util.concurrent.atomic.AtomicInteger
import jdk.jfr.Recording
import jdk.jfr.consumer.RecordedEvent
import jdk.jfr.consumer.RecordingFile
import kotlin.concurrent.thread
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
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

class BatchEventsTest {
    @Test
    fun `batches and changes of place are events of a flight recording`() {
        val events = recorded {
            AdaptiveExecutor(processors = 2, elasticMax = 16).use { executor ->
                val waits = executor.site("waits")
                // Runs items that wait for each other, so they end only together. The executor sees that the site
                // blocks, and moves it to elastic threads.
                repeat(20) {
                    val all = CountDownLatch(8)
                    executor.runAll(waits, 8) {
                        all.countDown()
                        all.await()
                    }
                }
            }
        }
        val batches = events.filter { it.eventType.name == "clearway.Batch" && it.getString("site") == "waits" }
        assertTrue(batches.isNotEmpty())
        assertEquals("INLINE", batches.first().getString("place"))
        assertTrue(batches.all { it.getInt("items") <= 8 && !it.getDuration("length").isNegative })
        val decisions = events.filter { it.eventType.name == "clearway.Decision" && it.getString("site") == "waits" }
        assertTrue(decisions.all { it.getString("from") != it.getString("to") })
        val places = batches.map { it.getString("place") }.distinct()
        assertTrue(places.size == 1 || decisions.isNotEmpty()) { "places: $places" }
    }

    private fun recorded(run: () -> Unit): List<RecordedEvent> {
        val file = Files.createTempFile("clearway", ".jfr")
        try {
            Recording().use { recording ->
                recording.enable("clearway.Batch")
                recording.enable("clearway.Decision")
                recording.start()
                run()
                recording.stop()
                recording.dump(file)
            }
            // Sorts the events, because a recording file orders them by the threads' buffers.
            return RecordingFile.readAllEvents(file).sortedBy { it.startTime }
        } finally {
            Files.delete(file)
        }
    }
}
