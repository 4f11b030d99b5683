// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Measures without assertions on time. `node scripts/jvm.mjs edt` runs it. The test runner skips this class because of
 * its name.
 */
class EventThreadMeasurement {
    @Test
    fun `how long the adaptive executor holds Swing's event thread, and what the meter costs`() {
        for (program in listOf("clearway.meter.OffloadFromWindow", "clearway.meter.MeterCost")) {
            val said = WindowProgram(program).run()
            println(said ?: VirtualDisplay.MISSING)
            assertTrue(said != null)
        }
    }
}
