// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.export

import java.io.File
import org.HdrHistogram.Histogram
import org.HdrHistogram.HistogramLogReader
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Reads the log that `clearway export hlog` writes. The lab's own test checks that it still writes this file. */
class IntervalLogTest {
    @Test
    fun `an exported interval log is read by HdrHistogram, with its tags, times and values`() {
        val file = File(checkNotNull(javaClass.getResource("/clearway.hlog")).toURI())
        val read =
            HistogramLogReader(file).use { reader -> generateSequence { reader.nextIntervalHistogram() }.toList() }
        val histograms = read.map { it as Histogram }
        assertEquals(
            List(2) { "node/stream/clearway-stream[perSecond=60;payloadBytes=8].latency" },
            histograms.map { it.tag },
        )
        val startedAt = java.time.Instant.parse("2026-01-02T03:04:05Z").toEpochMilli()
        assertEquals(listOf(startedAt, startedAt + 250), histograms.map { it.startTimeStamp })
        assertEquals(listOf(startedAt + 250, startedAt + 500), histograms.map { it.endTimeStamp })
        assertEquals(listOf(3L, 3L), histograms.map { it.totalCount })
        // The largest values that a histogram of three digits cannot distinguish from the recorded 3000 and 1,000,000.
        assertEquals(listOf(3001L, 1_000_447L), histograms.map { it.maxValue })
        assertEquals(
            listOf(2L, 2L),
            listOf(histograms[0].getCountBetweenValues(1, 2001), histograms[1].getCountBetweenValues(1, 1000)),
        )
    }
}
