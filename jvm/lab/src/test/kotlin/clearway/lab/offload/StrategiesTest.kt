// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

internal class StrategiesTest {
    // The checksums that the scenario files expect on every host.
    private val checksums = mapOf("arithmetic" to 95_289, "lists" to 4_753, "storage" to 4_950, "network" to 4_950)

    @Test
    fun `the runner has every strategy of the family`() {
        val names =
            "direct coroutines-launch flow-map coroutines-launch-default coroutines-launch-default-limited " +
                "flow-flatmapmerge-default flow-flatmapmerge-cores coroutines-launch-io flow-flatmapmerge-io " +
                "rxjava-flowable-single rxjava-parallel-computation rxjava-flatmap-io fixed-pool-invokeall " +
                "work-stealing-invokeall fixed-100-invokeall work-stealing-100-invokeall virtual-threads clearway-adaptive"
        assertEquals(names.split(" "), Strategies.all.map { it.name })
    }

    @TestFactory
    fun `each strategy runs every action once, also when opened again after close`(): List<DynamicTest> =
        Strategies.all
            .filter { it.unavailable == null }
            .map { kind -> dynamicTest(kind.name) { repeat(2) { runsAll(kind) } } }

    private fun runsAll(kind: StrategyKind) {
        kind.open().use { strategy ->
            for (order in listOf("ascending", "shuffled")) {
                for (work in listOf("arithmetic", "lists", "bimodal", "mixed")) {
                    val batches = Batches(strategy, Works.named(work, networkUs = 1.0), seedsOf(order, 100))
                    val (done, sum) = tally(batches.run())
                    assertEquals(100, done, "$work $order")
                    checksums[work]?.let { assertEquals(it, Math.round(sum).toInt(), work) }
                }
            }
        }
    }

    @TestFactory
    fun `an action that throws ends the batch with its exception`(): List<DynamicTest> =
        Strategies.all
            .filter { it.unavailable == null }
            .map { kind ->
                dynamicTest(kind.name) {
                    kind.open().use { strategy ->
                        val action = Action { seed -> if (seed == 7) error("seven") else 0.0 }
                        val thrown =
                            assertThrows(Throwable::class.java) {
                                strategy.batch(seedsOf("ascending", 20), action, DoubleArray(20))
                            }
                        assertNotNull(generateSequence(thrown) { it.cause }.find { it.message == "seven" })
                    }
                }
            }

    @Test
    fun `workloads that wait return the same results as on every host`() {
        Strategies.named("fixed-100-invokeall").open().use { strategy ->
            for (work in listOf("storage", "network")) {
                val batches = Batches(strategy, Works.named(work, networkUs = 10.0), seedsOf("shuffled", 100))
                val found = resultOf(batches.run())
                val expected = buildJsonObject {
                    put("done", JsonPrimitive(100))
                    put("checksum", JsonPrimitive(checksums.getValue(work).toLong()))
                }
                assertEquals(expected, found)
            }
        }
    }

    @Test
    fun `the shuffled order has every seed once and is deterministic`() {
        val shuffled = seedsOf("shuffled", 100)
        assertEquals((0 until 100).toList(), shuffled.sorted())
        assertEquals(shuffled.toList(), seedsOf("shuffled", 100).toList())
    }

    @Test
    fun `recovery ends when two consecutive batches are near the steady state`() {
        assertEquals(0, recovery(longArrayOf(10, 10, 10, 10)))
        assertEquals(3, recovery(longArrayOf(90, 10, 40, 10, 11, 10, 10, 10)))
        assertEquals(10.5, settled(longArrayOf(90, 80, 10, 11)))
    }
}

/**
 * Tests the warm-up with batches on a fake clock. `ns` returns the duration of a batch that starts at the given time.
 */
internal class WarmUpTest {
    private var nowNs = 0L

    private fun warmedFor(ms: Double, ns: (beginsNs: Long) -> Long): WarmUp {
        nowNs = 0
        return warmUp(ms, { nowNs }) { nowNs += ns(nowNs) }
    }

    @Test
    fun `batches are warm when their time is constant`() {
        val found = warmedFor(100.0) { 1_000_000 }
        assertTrue(found.isWarm)
        assertEquals(listOf(100, 100.0, 1_000_000L), listOf(found.batches, found.ms, found.perBatchNs))
    }

    @Test
    fun `batches are warm when they became faster before the second half, and report the later time`() {
        val found = warmedFor(100.0) { if (it < 48_000_000) 1_000_000 else 100_000 }
        assertTrue(found.isWarm)
        assertEquals(100_000, found.perBatchNs)
    }

    @Test
    fun `batches are not warm when they become faster in the last quarter, or steadily`() {
        assertFalse(warmedFor(100.0) { if (it < 80_000_000) 1_000_000 else 900_000 }.isWarm)
        assertFalse(warmedFor(100.0) { 1_000_000 - it / 120 }.isWarm)
    }

    @Test
    fun `outliers do not decide whether batches are warm, and too few windows are not warm`() {
        assertTrue(warmedFor(100.0) { if (it / 1_000_000 % 9 == 0L) 3_000_000 else 1_000_000 }.isWarm)
        assertTrue(warmedFor(100.0) { if (it / 5_000_000 == 18L) 500_000 else 1_000_000 }.isWarm)
        assertFalse(warmedFor(100.0) { 12_000_000 }.isWarm)
    }

    @Test
    fun `one batch runs without time, and is not warm`() {
        val found = warmedFor(0.0) { 1_000 }
        assertEquals(1, found.batches)
        assertFalse(found.isWarm)
    }
}

internal class CpuReadingTest {
    private val ms = 1_000_000L

    private fun between(before: CpuReading, after: CpuReading) = after.since(before)

    @Test
    fun `the time of living threads is taken as long as the process's count agrees within its steps`() {
        assertEquals(7 * ms, between(CpuReading(100 * ms, 100 * ms), CpuReading(107 * ms, 120 * ms)))
    }

    @Test
    fun `the process's count is taken when threads have ended`() {
        assertEquals(400 * ms, between(CpuReading(500 * ms, 500 * ms), CpuReading(300 * ms, 900 * ms)))
    }

    @Test
    fun `the process's count is taken where the system does not count threads`() {
        assertEquals(30 * ms, between(CpuReading(null, 10 * ms), CpuReading(null, 40 * ms)))
    }

    @Test
    fun `the time is never negative`() {
        assertEquals(0, between(CpuReading(9 * ms, 0), CpuReading(5 * ms, 10 * ms)))
        assertEquals(0, between(CpuReading(null, 10 * ms), CpuReading(null, 0)))
    }
}
