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
        val compared =
            known
                .mapValues { (_, waits) -> waits.mapNotNull { beyondTolerance(it, report) }.sorted() }
                .filterValues { it.size >= FOR_A_MEDIAN }
        // On a machine that leaves nothing in peace there is nothing to compare with.
        assumeTrue(compared.isNotEmpty()) {
            "the machine is too busy: it left fewer than $FOR_A_MEDIAN waits of any length in peace"
        }
        for ((ms, errors) in compared) {
            // The median, as for the other meters: the machine may take a thread off its core beside a wait.
            assertTrue(median(errors) <= 0) { "of $ms ms: errors beyond the tolerance, in ms: $errors" }
        }
        val stacks = report["stalls"].asJsonArray.map { it.asJsonObject["stacks"].asJsonArray }.filter { !it.isEmpty }
        assertTrue(stacks.any { "KnownStalls.busy" in it.toString() }) { "stacks: $stacks" }

        val measured = told["measured"].asJsonObject
        assertEquals("jvm", measured["host"].asString)
        assertEquals(1, measured["stalls"].asJsonArray.size())
        assertEquals(measured["durationMs"].asDouble, measured["longestMs"].asDouble, 0.01)
        assertEquals(20, told["ping"].asJsonObject["roundTripMs"].asJsonObject["n"].asInt)
    }

    /**
     * Null where the meter's own thread was kept from its core just then, which its stated error says, or through it.
     */
    private fun beyondTolerance(wait: JsonObject, report: JsonObject): Double? {
        val lengthMs = wait["lengthMs"].asDouble
        val stall =
            report["stalls"]
                .asJsonArray
                .map { it.asJsonObject }
                .find { stall -> stall["marks"].asJsonArray.any { it.asJsonObject["label"] == wait["label"] } }
        if (stall == null || stall["errorMs"].asDouble > HALF_A_BEAT_MS) return null
        return Math.abs(stall["lengthMs"].asDouble - lengthMs) - maxOf(1.0, lengthMs * 0.05)
    }

    private fun median(sorted: List<Double>) = (sorted[(sorted.size - 1) / 2] + sorted[sorted.size / 2]) / 2

    private fun onDisplay(vararg args: String): JsonObject {
        val said = WindowProgram("clearway.meter.KnownStalls").run(*args)
        if (said == null) System.err.println(VirtualDisplay.MISSING)
        assumeTrue(said != null, VirtualDisplay.MISSING)
        return JsonParser.parseString(said).asJsonObject
    }

    private companion object {
        /**
         * A start is known to half a beat, which is the tolerance: one wait in fourteen is beyond, and three of five
         * may be.
         */
        const val FOR_A_MEDIAN = 9
        /** 1 ms, and what the system's timers are late by. */
        const val HALF_A_BEAT_MS = 1.25
    }
}
