// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

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
