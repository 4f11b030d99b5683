// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import java.io.File
import java.nio.file.Files
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import jdk.jfr.Recording
import jdk.jfr.consumer.RecordingFile
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
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

/**
 * A program that holds a watched thread until the watch has reported two stalls. It then prints the sources of
 * evidence.
 */
internal object MeterProgram {
    @JvmStatic
    fun main(args: Array<String>) {
        val loop = Executors.newSingleThreadExecutor { task -> Thread(task, "loop").apply { isDaemon = true } }
        val told = CountDownLatch(2)
        Meter.watch(loop, MeterOptions().onStall { told.countDown() }).use { watch ->
            do loop.submit { hold() }.get() while (told.count > 0)
            for (source in watch.report().sources) println("${source.name}: ${source.available}")
        }
        println("measured: ${Meter.measure(loop) { 7 }.value}")
    }

    private fun hold() {
        val end = System.nanoTime() + 40_000_000
        while (System.nanoTime() < end) Thread.onSpinWait()
    }
}

/** Tests JVMs that lack or forbid some features. The meter must use the other features. */
class PoorHostTest {
    private fun run(vararg options: String): List<String> {
        val java = File(System.getProperty("java.home"), "bin/java").path
        val path = listOf("-Xmx128m", "-cp", System.getProperty("java.class.path"), MeterProgram::class.java.name)
        val output = File.createTempFile("clearway", ".txt")
        val process =
            ProcessBuilder(listOf(java) + options + path).redirectErrorStream(true).redirectOutput(output).start()
        try {
            val ended = process.waitFor(90, TimeUnit.SECONDS)
            val said = output.readLines()
            assertTrue(ended, "it hangs: $said")
            assertEquals(0, process.exitValue(), "$said")
            return said
        } finally {
            process.destroyForcibly()
            output.delete()
        }
    }

    @Test
    fun `the meter reports stalls without the module java-management`() {
        val said = run("--limit-modules=java.base")
        assertTrue("heartbeat: true" in said && "garbage collection: false" in said, "$said")
        assertTrue("measured: 7" in said, "$said")
    }

    @Test
    fun `the meter reports stalls without stacks under a security manager`() {
        assumeTrue(Runtime.version().feature() < 24, "this JDK has no security manager")
        val said = run("-Djava.security.manager")
        assertTrue("heartbeat: true" in said && "stacks: false" in said, "$said")
        assertTrue("measured: 7" in said, "$said")
    }
}
