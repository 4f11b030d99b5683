// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.AdaptiveExecutor
import java.nio.file.Files
import java.util.concurrent.CountDownLatch
import jdk.jfr.Recording
import jdk.jfr.consumer.RecordedEvent
import jdk.jfr.consumer.RecordingFile
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class BatchEventsTest {
    @Test
    fun `batches and changes of place are events of a flight recording`() {
        val events = recorded {
            AdaptiveExecutor(processors = 2, elasticMax = 16).use { executor ->
                val waits = executor.site("waits")
                // Runs items that wait for each other, so they end only together. The executor sees that the site
                // blocks, and moves it to elastic threads.
                repeat(20) {
                    val all = CountDownLatch(8)
                    executor.runAll(waits, 8) {
                        all.countDown()
                        all.await()
                    }
                }
            }
        }
        val batches = events.filter { it.eventType.name == "clearway.Batch" && it.getString("site") == "waits" }
        assertTrue(batches.isNotEmpty())
        assertEquals("INLINE", batches.first().getString("place"))
        assertTrue(batches.all { it.getInt("items") <= 8 && !it.getDuration("length").isNegative })
        val decisions = events.filter { it.eventType.name == "clearway.Decision" && it.getString("site") == "waits" }
        assertTrue(decisions.all { it.getString("from") != it.getString("to") })
        val places = batches.map { it.getString("place") }.distinct()
        assertTrue(places.size == 1 || decisions.isNotEmpty()) { "places: $places" }
    }

    private fun recorded(run: () -> Unit): List<RecordedEvent> {
        val file = Files.createTempFile("clearway", ".jfr")
        try {
            Recording().use { recording ->
                recording.enable("clearway.Batch")
                recording.enable("clearway.Decision")
                recording.start()
                run()
                recording.stop()
                recording.dump(file)
            }
            // Sorts the events, because a recording file orders them by the threads' buffers.
            return RecordingFile.readAllEvents(file).sortedBy { it.startTime }
        } finally {
            Files.delete(file)
        }
    }
}
