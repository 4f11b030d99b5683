// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

import clearway.executor.forAll
import io.kotest.property.Arb
import io.kotest.property.arbitrary.list
import io.kotest.property.arbitrary.long
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class DurationHistogramTest {
    @Test
    fun `a quantile is at least the exact duration and less than twice it`() {
        forAll(Arb.list(Arb.long(1L..(1L shl 40)), 1..60)) { durations ->
            val histogram = DurationHistogram()
            for (ns in durations) histogram.add(ns)
            for (quantile in listOf(0.1, 0.5, 0.9, 1.0)) {
                val rank = Math.ceil(quantile * durations.size).toInt().coerceAtLeast(1)
                val exact = durations.sorted()[rank - 1]
                val read = histogram.atMostNs(quantile)
                assertTrue(read in exact..exact * 2, "quantile=$quantile exact=$exact read=$read")
            }
        }
    }

    @Test
    fun `a faded histogram keeps its shape and loses weight`() {
        val histogram = DurationHistogram()
        histogram.add(1_000, 90.0)
        histogram.add(5_000_000, 10.0)
        histogram.fade(0.5)
        assertEquals(50.0, histogram.total, 1e-9)
        assertEquals(0.1, histogram.shareAbove(5_000_000), 1e-9)
        histogram.clear()
        assertEquals(0, histogram.atMostNs(0.99))
    }
}
