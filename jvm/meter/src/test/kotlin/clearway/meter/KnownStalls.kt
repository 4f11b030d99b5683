// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import java.awt.Rectangle
import java.awt.Robot
import java.io.File
import java.util.concurrent.CompletableFuture
import java.util.concurrent.Executor
import javax.imageio.ImageIO
import javax.swing.JFrame
import javax.swing.JLabel
import javax.swing.SwingUtilities

/**
 * A program with a window that holds its event thread for known times. Prints the lengths by the clock and by the
 * meter, as one line of JSON. Its arguments are `known [screenshot.png]`, or `seen`. `seen` holds the thread until the
 * meter reports both a mark and a stack.
 */
object KnownStalls {
    private val edt = Executor(SwingUtilities::invokeLater)
    private val lengthsMs = listOf(10, 20, 50, 100)
    private const val TIMES = 15
    /** Maximum accepted delay before or after a wait, in ns. A hand-over between two threads takes about 0.1 ms. */
    private const val BESIDE_NS = 1_000_000L

    @JvmStatic
    fun main(args: Array<String>) {
        onEventThread { show() }
        val watch = Meter.watch(edt, MeterOptions().label("known stalls"))
        watch.ready.get()
        val known = if (args.first() == "seen") holdUntilSeen(watch) else lengthsMs.flatMap(::stalls)
        watch.close()
        args.getOrNull(1)?.let(::photograph)
        val measured = Meter.measure(edt, MeterOptions().label("busy")) { busy(50) }
        val ping = Meter.ping(edt)
        val reports =
            mapOf("report" to watch.report().toJson(), "measured" to measured.report.toJson(), "ping" to ping.toJson())
        println(
            reports.entries.joinToString(",", json(mapOf("known" to known)).removeSuffix("}") + ",", "}") {
                "\"${it.key}\":${it.value}"
            }
        )
        if (args.getOrNull(1) != null) System.err.println("${watch.report()}\n$measured\n$ping")
        System.exit(0)
    }

    /**
     * Holds the event thread several times, and returns the waits that the machine did not lengthen. The machine may
     * take the thread off its core right before or after a wait; the stall then really is longer. A late task before or
     * after the wait shows that, and the wait is dropped. Tries up to ten times as many waits as it needs.
     *
     * The clock alone gives the returned lengths: from the wait's first line to the next task in the queue. That
     * includes the time to wake the thread that waits for the task, because the wake holds the event thread, too.
     */
    private fun stalls(ms: Int): List<Map<String, Any>> {
        val known = ArrayList<Map<String, Any>>()
        for (index in 0 until TIMES * 10) {
            if (known.size == TIMES) break
            // Varies the time, so that the waits do not align with the beats.
            Thread.sleep(13L + index * 7 % 11)
            val name = "known $ms, $index"
            val askedNs = System.nanoTime()
            var beganNs = 0L
            var tookMs = 0.0
            val freeNs = CompletableFuture<Long>()
            onEventThread {
                edt.execute { freeNs.complete(System.nanoTime()) }
                beganNs = System.nanoTime()
                tookMs = Meter.mark(name).use { busy(ms) }
            }
            val lengthNs = freeNs.get() - beganNs
            val beside = maxOf(beganNs - askedNs, lengthNs - (tookMs * 1e6).toLong())
            if (beside < BESIDE_NS) known += mapOf("label" to name, "ms" to ms, "lengthMs" to lengthNs / 1e6)
        }
        return known
    }

    /**
     * Repeats a wait until the meter reports it. On a busy machine, the meter's own thread may have no core during a
     * whole stall.
     */
    private fun holdUntilSeen(watch: StallWatch): List<Map<String, Any>> {
        do {
            onEventThread { Meter.mark("held").use { busy(60) } }
            val report = watch.report()
            val isMarked = report.stalls.any { stall -> stall.marks.any { it.label == "held" } }
        } while (!isMarked || "KnownStalls.busy" !in report.toJson())
        return emptyList()
    }

    private fun show() {
        val frame = JFrame("Known stalls")
        frame.contentPane.add(JLabel("Clearway"))
        frame.setSize(320, 120)
        frame.isVisible = true
    }

    /** Spins for about `ms`, and returns the real time in ms. */
    private fun busy(ms: Int): Double {
        val start = System.nanoTime()
        while (System.nanoTime() - start < ms * 1_000_000L) Thread.onSpinWait()
        return (System.nanoTime() - start) / 1e6
    }

    private fun photograph(path: String) {
        ImageIO.write(Robot().createScreenCapture(Rectangle(0, 0, 640, 480)), "png", File(path))
    }
}
