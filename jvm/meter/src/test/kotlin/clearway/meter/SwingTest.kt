// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import com.google.gson.JsonObject
import com.google.gson.JsonParser
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

/** Tests Swing's event thread with a real window, in a JVM that was started with a display of its own. */
class SwingTest {
    @Test
    fun `a stall on Swing's event thread has its mark and a stack, and a measured function is one stall`() {
        val told = onDisplay("seen")
        val stalls = told["report"].asJsonObject["stalls"].asJsonArray.map { it.asJsonObject }
        // The program held the thread until the meter had reported both a mark and a stack.
        assertTrue(stalls.any { stall -> stall["marks"].asJsonArray.any { isLabel(it.asJsonObject, "held") } })
        assertTrue(stalls.any { "KnownStalls.busy" in it["stacks"].toString() }) { "stalls: $stalls" }
        val measured = told["measured"].asJsonObject
        assertEquals("jvm", measured["host"].asString)
        assertEquals(1, measured["stalls"].asJsonArray.size())
        assertEquals(measured["durationMs"].asDouble, measured["longestMs"].asDouble, 0.01)
        assertEquals(20, told["ping"].asJsonObject["roundTripMs"].asJsonObject["n"].asInt)
    }

    /**
     * Prints figures that `make measure` checks. There is one figure per stall length. A sample is the part of one
     * wait's error that exceeds the tolerance: 1 ms or 5 percent, whichever is larger.
     */
    @Test
    @Tag("measure")
    fun `the meter measures stalls of known length on Swing's event thread`() {
        val told = onDisplay("known")
        val report = told["report"].asJsonObject
        val known = told["known"].asJsonArray.map { it.asJsonObject }.groupBy { it["ms"].asInt }
        for ((ms, waits) in known) {
            val name = "error of the meter beyond 1 ms or 5 %: stalls of $ms ms, Swing"
            val errors = waits.mapNotNull { beyondTolerance(it, report) }
            if (errors.isEmpty()) println("""figure: {"name":"$name","missing":"the machine left no wait in peace"}""")
            else println("""figure: {"name":"$name","unit":"ms","sense":"at most","limit":0,"samples":$errors}""")
        }
    }

    private fun isLabel(mark: JsonObject, label: String) = mark["label"].asString == label

    /**
     * Returns how far the error of a wait is beyond the tolerance. Returns null if the meter's own thread had no core
     * during the wait: then no stall has the mark, or the stated error is large.
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

    private fun onDisplay(vararg args: String): JsonObject {
        val said = WindowProgram("clearway.meter.KnownStalls").run(*args)
        if (said == null) System.err.println(VirtualDisplay.MISSING)
        assumeTrue(said != null, VirtualDisplay.MISSING)
        return JsonParser.parseString(said).asJsonObject
    }

    private companion object {
        /**
         * Maximum stated error, in ms, of a stall that counts: half a beat, plus the lateness of the system's timers.
         */
        const val HALF_A_BEAT_MS = 1.25
    }
}
