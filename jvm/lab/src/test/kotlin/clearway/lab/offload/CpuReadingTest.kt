// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

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
