// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import com.google.gson.JsonObject
import com.google.gson.JsonParser
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Test

/** A real window on a display of its own: the event thread is Swing's, in a JVM that was started with that display. */
class SwingTest {
    @Test
    fun `stalls of known length on Swing's event thread are told to 1 ms or 5 percent, by their marks and stacks`() {
        val told = onDisplay("known")
        val report = told["report"].asJsonObject
        val known = told["known"].asJsonArray.map { it.asJsonObject }.groupBy { it["ms"].asInt }
        assertEquals(setOf(10, 20, 50, 100), known.keys)
        for ((ms, waits) in known) {
            val errors = waits.map { beyondTolerance(it, report) }.sorted()
            // The median, as for the other meters: the machine may take a thread off its core beside a wait.
            assertTrue(errors[errors.size / 2] <= 0) { "of $ms ms: errors beyond the tolerance, in ms: $errors" }
        }
        val stacks = report["stalls"].asJsonArray.map { it.asJsonObject["stacks"].asJsonArray }.filter { !it.isEmpty }
        assertTrue(stacks.any { "KnownStalls.busy" in it.toString() }) { "stacks: $stacks" }

        val measured = told["measured"].asJsonObject
        assertEquals("jvm", measured["host"].asString)
        assertEquals(1, measured["stalls"].asJsonArray.size())
        assertEquals(measured["durationMs"].asDouble, measured["longestMs"].asDouble, 0.01)
        assertEquals(20, told["ping"].asJsonObject["roundTripMs"].asJsonObject["n"].asInt)
    }

    private fun beyondTolerance(wait: JsonObject, report: JsonObject): Double {
        val lengthMs = wait["lengthMs"].asDouble
        val stall =
            report["stalls"].asJsonArray.find { stall ->
                stall.asJsonObject["marks"].asJsonArray.any { it.asJsonObject["label"] == wait["label"] }
            }
        if (stall == null) return Double.POSITIVE_INFINITY
        return Math.abs(stall.asJsonObject["lengthMs"].asDouble - lengthMs) - maxOf(1.0, lengthMs * 0.05)
    }

    private fun onDisplay(vararg args: String): JsonObject {
        val said = WindowProgram("clearway.meter.KnownStalls").run(*args)
        if (said == null) System.err.println(VirtualDisplay.MISSING)
        assumeTrue(said != null, VirtualDisplay.MISSING)
        return JsonParser.parseString(said).asJsonObject
    }
}
