// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import com.google.gson.JsonObject
import com.google.gson.JsonParser
import java.io.File
import java.io.IOException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.Executor
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import javax.swing.SwingUtilities
import kotlin.concurrent.thread
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

class NestedLoopTest {
    /** An event loop, which a task can run again from within, as a modal dialog does. */
    private class Loop : Executor {
        private val tasks = LinkedBlockingQueue<Runnable>()

        override fun execute(task: Runnable) {
            tasks.add(task)
        }

        fun runOne(): Unit = tasks.take().run()
    }

    private fun measured(function: (Loop) -> Unit): Measurement<Unit> {
        val loop = Loop()
        val events = thread(isDaemon = true) { while (!Thread.interrupted()) loop.runOne() }
        return Meter.measure(loop) { function(loop) }.also { loop.execute { events.interrupt() } }
    }

    @Test
    fun `a measured function that runs a nested event loop did not block its thread meanwhile`() {
        // Each task of the nested loop is a beat of the meter.
        val measured = measured { loop -> repeat(50) { loop.runOne() } }
        assertTrue(measured.report.longestMs < measured.runtimeMs) { measured.report.toString() }
    }

    @Test
    fun `a measured function without a nested event loop is one stall`() {
        val measured = measured { Thread.sleep(20) }
        assertEquals(measured.runtimeMs, measured.report.longestMs, 0.01)
        assertEquals(1, measured.report.stalls.size)
    }
}

/**
 * Runs `run` on Swing's event thread and returns its result. Does not use `invokeAndWait`: at its end, the event thread
 * takes a lock that the caller holds until the caller waits. This took up to 4.5 ms on busy cores. Completing a future
 * takes no lock.
 */
internal fun <T> onEventThread(run: () -> T): T =
    CompletableFuture.supplyAsync({ run() }, SwingUtilities::invokeLater).get()

/** A virtual display with a free number. Needs the program Xvfb. */
internal class VirtualDisplay private constructor(private val process: Process, val name: String) : AutoCloseable {
    override fun close() {
        process.destroy()
        if (!process.waitFor(10, TimeUnit.SECONDS)) process.destroyForcibly()
    }

    companion object {
        const val MISSING: String =
            "Xvfb is missing, so nothing was tested on a real Swing window. " +
                "Add it with: apt-get install -y --no-install-recommends xvfb"

        /** Opens a display. Returns null without Xvfb. Xvfb also ends on its own when its last window is closed. */
        fun open(): VirtualDisplay? {
            val command =
                listOf("Xvfb", "-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp", "-terminate")
            val process =
                try {
                    ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start()
                } catch (_: IOException) {
                    return null
                }
            val number = process.inputReader().readLine()
            if (number == null) {
                process.destroy()
                throw IOException("Xvfb opened no display: exit status ${process.waitFor()}")
            }
            return VirtualDisplay(process, ":${number.trim()}")
        }
    }
}

/** Runs a program with a window in a JVM of its own, because AWT reads the display from the JVM's environment. */
internal class WindowProgram(private val main: String) {
    /** Runs the program on a display of its own and returns its output. Returns null without Xvfb. */
    fun run(vararg args: String): String? =
        VirtualDisplay.open()?.use { display ->
            val java = File(System.getProperty("java.home"), "bin/java").path
            val command = listOf(java, "-Xmx256m", "-cp", System.getProperty("java.class.path"), main) + args
            val builder = ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT)
            builder.environment()["DISPLAY"] = display.name
            val process = builder.start()
            val said = process.inputReader().readText()
            check(process.waitFor() == 0) { "the window's program failed: $said" }
            said
        }
}
