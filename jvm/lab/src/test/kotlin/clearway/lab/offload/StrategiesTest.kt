// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertThrows
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
