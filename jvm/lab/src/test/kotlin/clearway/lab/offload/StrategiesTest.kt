// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

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

    private fun resultsOf(strategy: Strategy, action: Action, order: String): DoubleArray =
        DoubleArray(100) { Double.NaN }.also { strategy.batch(seedsOf(order, 100), action, it) }

    /** A result counts as at most 1000, because the results of `arithmetic` (powers) are too large. */
    private fun checksum(results: DoubleArray): Int = Math.round(results.sumOf { minOf(it, 1000.0) }).toInt()

    private fun runsAll(kind: StrategyKind) {
        kind.open().use { strategy ->
            for (order in listOf("ascending", "shuffled")) {
                for (work in listOf("arithmetic", "lists", "bimodal", "mixed")) {
                    val results = resultsOf(strategy, Works.named(work, networkUs = 1.0), order)
                    assertEquals(100, results.count { !it.isNaN() }, "$work $order")
                    checksums[work]?.let { assertEquals(it, checksum(results), work) }
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
    fun `workloads that wait return their results`() {
        Strategies.named("fixed-100-invokeall").open().use { strategy ->
            for (work in listOf("storage", "network")) {
                val results = resultsOf(strategy, Works.named(work, networkUs = 10.0), "shuffled")
                assertEquals(checksums.getValue(work), checksum(results))
            }
        }
    }

    @Test
    fun `the shuffled order has every seed once and is deterministic`() {
        val shuffled = seedsOf("shuffled", 100)
        assertEquals((0 until 100).toList(), shuffled.sorted())
        assertEquals(shuffled.toList(), seedsOf("shuffled", 100).toList())
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
