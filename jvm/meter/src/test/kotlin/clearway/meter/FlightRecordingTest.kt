// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import java.nio.file.Files
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors
import jdk.jfr.Recording
import jdk.jfr.consumer.RecordingFile
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class FlightRecordingTest {
    private fun held(ms: Long) {
        val end = System.nanoTime() + ms * 1_000_000
        while (System.nanoTime() < end) Thread.onSpinWait()
    }

    @Test
    fun `a flight recording contains every stall with its length, thread, cause, stack and marks`() {
        val events = Executors.newSingleThreadExecutor { Thread(it, "event loop") }
        val file = Files.createTempFile("clearway", ".jfr")
        try {
            val told = CountDownLatch(1)
            Recording().use { recording ->
                recording.enable("clearway.Stall")
                recording.start()
                val options = MeterOptions().label("loop").onStall { if (it.stacks.isNotEmpty()) told.countDown() }
                Meter.watch(events, options).use { watch ->
                    watch.ready.get()
                    // Repeats until a stall has a stack. On a busy machine, the meter's thread may have no core during
                    // a whole stall.
                    do events.submit { Meter.mark("import") { held(60) } }.get() while (told.count > 0)
                }
                recording.stop()
                recording.dump(file)
            }
            val event =
                RecordingFile.readAllEvents(file).first {
                    it.eventType.name == "clearway.Stall" && "held" in it.getString("stack").orEmpty()
                }
            assertEquals("loop", event.getString("watch"))
            assertEquals("event loop", event.getThread("thread").javaName)
            assertTrue(!event.getDuration("length").isNegative && !event.getDuration("length").isZero) { "$event" }
            assertTrue(event.getString("cause") in setOf("app", "machine", "gc"))
            assertTrue("FlightRecordingTest.held" in event.getString("stack")) { event.toString() }
            assertEquals("import", event.getString("marks"))
            assertTrue(event.getInstant("began") <= event.startTime)
        } finally {
            Files.delete(file)
            events.shutdownNow()
        }
    }
}
