// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

import clearway.executor.forAll
import io.kotest.property.Arb
import io.kotest.property.arbitrary.list
import io.kotest.property.arbitrary.long
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class SiteModelTest {
    private val costs = Costs(processors = 2)
    private val model = SiteModel()

    private fun see(itemNs: Long, times: Int = 1, items: Int = 100, cpuShare: Double = 1.0, crowded: Boolean = false) {
        repeat(times) {
            val sum = itemNs * items
            model.observe(
                Observation(
                    Placement.INLINE,
                    items,
                    sum,
                    sum,
                    cpuItems = items,
                    cpuWallNs = sum,
                    cpuNs = (sum * cpuShare).toLong(),
                    crowded = crowded,
                )
            )
        }
    }

    @Test
    fun `the model does not mix cold samples with later ones`() {
        see(1_000_000, times = SiteModel.COLD_BATCHES)
        see(1_000)
        assertTrue(model.warm)
        assertEquals(1_000.0, model.itemNs, 1.0)
        assertTrue(model.durations.atMostNs(1.0) <= 2_048)
    }

    @Test
    fun `the model moves little after one outlier and believes two in a row`() {
        see(1_000, times = 50)
        see(1_000_000)
        assertTrue(model.itemNs < 2_000, "itemNs=${model.itemNs}")
        see(1_000)
        see(1_000_000, times = 2)
        assertEquals(1_000_000.0, model.itemNs, 1.0)
    }

    @Test
    fun `the model follows a site that changes, also to cheaper items`() {
        see(1_000_000, times = 50)
        see(100, times = 2)
        assertEquals(100.0, model.itemNs, 1.0)
        assertTrue(model.durations.atMostNs(1.0) <= 256)
    }

    @Test
    fun `the model remembers for about two hundred batches that a site blocked`() {
        see(1_000_000, times = 10, cpuShare = 0.001)
        assertTrue(model.mayBlock)
        see(1_000_000, times = 100)
        assertTrue(model.mayBlock)
        see(1_000_000, times = 100)
        assertFalse(model.mayBlock)
    }

    @Test
    fun `the model counts no sleep for a wait when all processors are busy`() {
        see(1_000_000, times = 20, cpuShare = 0.3, crowded = true)
        assertFalse(model.mayBlock)
    }

    @Test
    fun `the model ignores batches that the collector paused, unless it pauses every batch`() {
        see(1_000, times = 20)
        fun stopped() =
            model.observe(
                Observation(Placement.INLINE, items = 100, itemsNs = 900_000, elapsedNs = 900_000, paused = true)
            )
        repeat(3) { stopped() }
        assertEquals(1_000.0, model.itemNs, 1.0)
        repeat(9) { stopped() }
        assertTrue(model.itemNs > 2_000, "itemNs=${model.itemNs}")
    }

    @Test
    fun `a place that is slower than predicted is left and tried again later`() {
        val planner = Planner(model)
        val tries = mutableListOf<Int>()
        repeat(400) { batch ->
            val plan = planner.plan(100, costs)
            if (plan.place == Placement.CPU) tries += batch
            val elapsedNs = if (plan.place == Placement.CPU) 300_000L else 200_000L
            val seen =
                Observation(
                    plan.place,
                    100,
                    200_000,
                    elapsedNs,
                    cpuItems = 100,
                    cpuWallNs = 200_000,
                    cpuNs = 200_000,
                    predictedNs = plan.predictedNs,
                )
            model.observe(seen)
        }
        assertTrue(tries.size in 2..40, "tried $tries")
        assertTrue(tries.last() > 100, "tried $tries")
    }

    @Test
    fun `the model learns nothing from a batch without timed items`() {
        model.observe(Observation(Placement.INLINE, items = 0, itemsNs = 0, elapsedNs = 1_000))
        assertFalse(model.known)
        assertEquals(0, model.batches)
    }

    @Test
    fun `a batch is crowded when its threads use almost all time of all processors`() {
        assertTrue(isCrowded(threads = 9, cpuNs = 7_900, elapsedNs = 1_000, processors = 8))
        assertFalse(isCrowded(threads = 9, cpuNs = 1_000, elapsedNs = 1_000, processors = 8))
        assertFalse(isCrowded(threads = 8, cpuNs = 8_000, elapsedNs = 1_000, processors = 8))
    }

    @Test
    fun `the model distinguishes preempted threads from sleeping ones`() {
        fun batch(waitedNs: Long) =
            Observation(
                Placement.INLINE,
                100,
                itemsNs = 10_000_000,
                elapsedNs = 10_000_000,
                cpuItems = 100,
                cpuWallNs = 10_000_000,
                cpuNs = 1_000_000,
                waitedNs = waitedNs,
            )
        repeat(20) { model.observe(batch(waitedNs = 9_000_000)) }
        assertFalse(model.mayBlock)
        model.observe(batch(waitedNs = 1_000_000))
        assertTrue(model.mayBlock)
    }
}

class GrowthTest {
    private val growth = Growth(Costs(processors = 2))

    @Test
    fun `elastic threads double while items wait, threads sleep and a processor is idle`() {
        var asleep = 1
        val added =
            List(6) {
                val more = growth.next(BatchSample(waiting = 40, asleep, awake = 0, idleProcessors = 2))
                assertTrue(more.elastic)
                asleep += more.threads
                more.threads
            }
        assertEquals(listOf(1, 2, 4, 8, 16, 32), added)
    }

    @Test
    fun `growth never adds more threads than items wait`() {
        repeat(6) { growth.next(BatchSample(waiting = 3, asleep = 1, awake = 0, idleProcessors = 2)) }
        assertEquals(3, growth.next(BatchSample(waiting = 3, asleep = 9, awake = 0, idleProcessors = 2)).threads)
        assertEquals(0, growth.next(BatchSample(waiting = 0, asleep = 9, awake = 0, idleProcessors = 2)).threads)
    }

    @Test
    fun `growth adds no thread for a preempted one`() {
        assertEquals(0, growth.next(BatchSample(waiting = 40, asleep = 0, awake = 2, idleProcessors = 0)).threads)
        assertEquals(0, growth.next(BatchSample(waiting = 40, asleep = 2, awake = 0, idleProcessors = 0)).threads)
    }

    @Test
    fun `growth adds CPU workers to a busy caller, and elastic threads when no worker came`() {
        val sample = BatchSample(waiting = 40, asleep = 0, awake = 1, idleProcessors = 1)
        val more = growth.next(sample)
        assertEquals(1, more.threads)
        assertFalse(more.elastic)
        assertTrue(growth.next(sample).elastic)
        assertEquals(0, growth.next(BatchSample(waiting = 40, asleep = 0, awake = 2, idleProcessors = 1)).threads)
    }

    /** Returns the threads that growth adds to samples that do not change, as a list of sample numbers and threads. */
    private fun added(samples: Int, sample: BatchSample, by: Growth = growth): List<Pair<Int, Growth.More>> =
        (0 until samples).map { it to by.next(sample) }.filter { it.second.threads > 0 }

    @Test
    fun `growth adds one thread when no item is claimed for long, and doubles its patience`() {
        val busy = BatchSample(waiting = 40, asleep = 0, awake = 2, idleProcessors = 0)
        val asleep = BatchSample(waiting = 40, asleep = 2, awake = 0, idleProcessors = 0)
        val full = BatchSample(waiting = 40, asleep = 256, awake = 0, idleProcessors = 2)
        val first = Growth.PATIENCE_MIN
        for (sample in listOf(busy, asleep, full)) {
            val added = added(samples = first * 8, sample, Growth(Costs(processors = 2)))
            assertEquals(listOf(first, first * 3, first * 7), added.map { it.first })
            assertTrue(added.all { it.second.threads == 1 })
            // The CPU workers help if all elastic threads hang, and the other way round.
            assertEquals(listOf(true, false, true), added.map { it.second.elastic })
        }
    }

    @Test
    fun `growth adds no thread while items are claimed now and then`() {
        for (waiting in 40 downTo 1) {
            val sample = BatchSample(waiting, asleep = 0, awake = 2, idleProcessors = 0)
            assertEquals(emptyList<Any>(), added(samples = Growth.PATIENCE_MIN, sample))
        }
    }

    @Test
    fun `growth adds a thread at once when all threads have left and items wait`() {
        val empty = BatchSample(waiting = 3, asleep = 0, awake = 0, idleProcessors = 0, left = 2)
        val added = added(samples = Growth.PATIENCE_MIN + 1, empty)
        // The second thread comes in case that the first one hangs elsewhere.
        assertEquals(listOf(0, Growth.PATIENCE_MIN), added.map { it.first })
        assertTrue(added.first().second.elastic)
    }

    @Test
    fun `growth adds no elastic thread to a batch that waits in the queue of busy workers`() {
        val queued = BatchSample(waiting = 3, asleep = 0, awake = 0, idleProcessors = 0)
        assertFalse(added(samples = Growth.PATIENCE_MIN * 8, queued).any { it.second.elastic })
    }
}

class LoadTest {
    private val load = Load()

    /**
     * Reads the load of a process once per ms. The process uses `processors` processors. Its clock has steps of 10 ms.
     */
    private fun samples(fromMs: Int, untilMs: Int, processors: Double, check: (Double) -> Unit) {
        for (ms in fromMs until untilMs) {
            val cpuNs = (ms * processors * 1e6).toLong() / 10_000_000 * 10_000_000
            load.sample(cpuNs, ms * 1_000_000L)
            check(load.used)
        }
    }

    @Test
    fun `the load of a steady process is accurate to a fifth of a processor for any clock steps`() {
        samples(0, 51, 1.0) {}
        samples(51, 2_000, 1.0) { assertEquals(1.0, it, 0.2) }
    }

    @Test
    fun `the load is unknown before the first window and after a long time without readings`() {
        samples(0, 50, 2.0) { assertEquals(0.0, it) }
        samples(50, 60, 2.0) { assertEquals(2.0, it, 0.2) }
        samples(10_000, 10_050, 2.0) { assertEquals(0.0, it) }
    }

    @Test
    fun `the load is zero when the host counts no processor time`() {
        repeat(200) { load.sample(-1, it * 1_000_000L) }
        assertEquals(0.0, load.used)
    }
}

class DurationHistogramTest {
    @Test
    fun `a quantile is at least the exact duration and less than twice it`() {
        forAll(Arb.list(Arb.long(1L..(1L shl 40)), 1..60)) { durations ->
            val histogram = DurationHistogram()
            for (ns in durations) histogram.add(ns)
            for (quantile in listOf(0.1, 0.5, 0.9, 1.0)) {
                val rank = Math.ceil(quantile * durations.size).toInt().coerceAtLeast(1)
                val exact = durations.sorted()[rank - 1]
                val read = histogram.atMostNs(quantile)
                assertTrue(read in exact..exact * 2, "quantile=$quantile exact=$exact read=$read")
            }
        }
    }

    @Test
    fun `a faded histogram keeps its shape and loses weight`() {
        val histogram = DurationHistogram()
        histogram.add(1_000, 90.0)
        histogram.add(5_000_000, 10.0)
        histogram.fade(0.5)
        assertEquals(50.0, histogram.total, 1e-9)
        assertEquals(listOf(true, false), listOf(0.8, 0.95).map { histogram.atMostNs(it) < 5_000 })
        histogram.clear()
        assertEquals(0, histogram.atMostNs(0.99))
    }
}
