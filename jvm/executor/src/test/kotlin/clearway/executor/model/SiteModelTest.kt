// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

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
