// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import com.sun.management.OperatingSystemMXBean
import java.lang.management.ManagementFactory
import java.util.concurrent.CountDownLatch
import javax.swing.JFrame
import javax.swing.SwingUtilities

/**
 * Measures the cost of a watch: the CPU time of a JVM with an idle window, and the time that a watch adds to the tasks
 * of a busy event thread.
 */
object MeterCost {
    private const val PAIRS = 3
    private const val IDLE_MS = 3_000L
    private const val TASKS = 200_000
    private val system = ManagementFactory.getOperatingSystemMXBean() as OperatingSystemMXBean

    @JvmStatic
    fun main(args: Array<String>) {
        onEventThread {
            val frame = JFrame("Cost")
            frame.setSize(320, 120)
            frame.isVisible = true
        }
        // Warms up the code, and lets the window finish its start.
        watched { busyUs() + idleMs() }
        busyUs()
        val idle = List(PAIRS) { watched { idleMs() } - idleMs() }.sorted()
        val busy = List(PAIRS) { watched { busyUs() } - busyUs() }.sorted()
        val slow = List(PAIRS) { watched(10.0) { idleMs() } - idleMs() }.sorted()
        println("JDK %d, added by a watch, median of %d pairs (least, most)".format(Runtime.version().feature(), PAIRS))
        println("idle: processor time a second, all threads, ms: %.1f (%.1f to %.1f)".format(idle[1], idle[0], idle[2]))
        println("idle, a beat each 10 ms: %.1f (%.1f to %.1f)".format(slow[1], slow[0], slow[2]))
        println("busy: time added to a task, us: %.3f (%.3f to %.3f)".format(busy[1], busy[0], busy[2]))
        System.exit(0)
    }

    private fun watched(beatMs: Double = 2.0, run: () -> Double): Double =
        Meter.watch(SwingUtilities::invokeLater, MeterOptions().beatMs(beatMs)).use { watch ->
            watch.ready.get()
            run()
        }

    /** Returns the CPU time in ms that the JVM uses per second while it is idle. */
    private fun idleMs(): Double {
        val (fromCpu, from) = system.processCpuTime to System.nanoTime()
        Thread.sleep(IDLE_MS)
        return (system.processCpuTime - fromCpu) * 1e3 / (System.nanoTime() - from)
    }

    /** Returns the time in us per task when many small tasks follow each other on the event thread. */
    private fun busyUs(): Double {
        val done = CountDownLatch(1)
        val from = System.nanoTime()
        var left = TASKS
        lateinit var task: Runnable
        task = Runnable { if (--left > 0) SwingUtilities.invokeLater(task) else done.countDown() }
        SwingUtilities.invokeLater(task)
        done.await()
        return (System.nanoTime() - from) / 1e3 / TASKS
    }
}
