// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.published

import clearway.lab.protocol.Cell
import clearway.lab.protocol.Measured
import clearway.lab.protocol.Value
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

internal class MeasureWaysTest {
    private fun cell(mechanism: String, work: String, change: Map<String, JsonPrimitive> = emptyMap()): Cell {
        val params =
            mapOf(
                "work" to JsonPrimitive(work),
                "actions" to JsonPrimitive(10),
                "warmMs" to JsonPrimitive(0),
                "runs" to JsonPrimitive(3),
                "runsMs" to JsonPrimitive(60_000),
                "countMs" to JsonPrimitive(0),
            )
        return Cell("offload", "published-executors", mechanism, params + change, JsonObject(emptyMap()))
    }

    @Test
    fun `a round has the asked number of runs, their median, and the tally of the last one`() {
        val found = measureWays(cell("rxjava-computation", "mixed"))
        val times = found.samples.getValue("batchTimes")
        assertEquals(listOf(3, 1), listOf(times.ns.size, times.batch))
        assertEquals(times.ns.sorted()[1] / 1e6, found.values.getValue("batch").value)
        assertEquals(JsonPrimitive(10), (found.result as JsonObject)["done"])
    }

    @Test
    fun `the time for the runs ends a round after at least one run`() {
        val found = measureWays(cell("fixed-pool", "storage", mapOf("runsMs" to JsonPrimitive(0))))
        assertEquals(1, found.samples.getValue("batchTimes").ns.size)
    }

    @Test
    fun `every measurement has the counts of a way, though only the first one counts if a run is long`() {
        val long = cell("rxjava-single", "storage")
        // The lab measures the A/A twin and the way itself with equal cells, in a random order.
        val (first, twin) = List(2) { measureWays(long) }
        assertEquals(1.0, first.values.getValue("threads").value)
        assertEquals(counts(first), counts(twin))
        val short = measureWays(cell("rxjava-single", "storage", mapOf("countMs" to JsonPrimitive(60_000))))
        assertEquals(1.0, short.values.getValue("threads").value)
    }

    private fun counts(measured: Measured): Pair<Map<String, Value>, List<String>> {
        val counts = measured.values.filterKeys { it == "threads" || it == "allocations" }
        // A missing count always has its reason.
        assertEquals("allocations" !in counts, measured.notes.any { "allocations are not counted" in it })
        return counts to measured.notes
    }

    @Test
    fun `without the native library, objects are absent with the reason, and the function still runs`() {
        var ran = 0
        val found = AllocationCount.of(2) { ran++ }
        assertEquals(2, ran)
        val absent = assertInstanceOf(AllocationCount.Absent::class.java, found)
        assertTrue("node scripts/jvm-lab.mjs" in absent.why)
        val measured = measureWays(cell("flow", "arithmetic", mapOf("countMs" to JsonPrimitive(1_000))))
        assertTrue("allocations" !in measured.values)
        assertTrue(measured.notes.single().startsWith("allocations are not counted: "))
    }

    @Test
    fun `parameters without a meaning are refused with their values`() {
        for (change in listOf("actions" to 0, "actions" to 1_001, "runs" to 0)) {
            val wrong = cell("direct", "lists", mapOf(change.first to JsonPrimitive(change.second)))
            val thrown = assertThrows(IllegalArgumentException::class.java) { measureWays(wrong) }
            assertTrue("${change.first}=${change.second}" in thrown.message!!)
        }
        assertThrows(IllegalArgumentException::class.java) { measureWays(cell("direct", "list")) }
        assertThrows(IllegalArgumentException::class.java) { measureWays(cell("directly", "lists")) }
    }
}
