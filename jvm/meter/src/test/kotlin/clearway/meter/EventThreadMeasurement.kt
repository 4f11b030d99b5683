// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import clearway.executor.AdaptiveExecutor
import com.sun.management.OperatingSystemMXBean
import java.awt.Rectangle
import java.awt.Robot
import java.io.File
import java.lang.management.ManagementFactory
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executor
import java.util.concurrent.locks.LockSupport
import javax.imageio.ImageIO
import javax.swing.JFrame
import javax.swing.JLabel
import javax.swing.SwingUtilities
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Measures without assertions on time. `node scripts/jvm.mjs edt` runs it. The test runner skips this class because of
 * its name.
 */
class EventThreadMeasurement {
    @Test
    fun `how long the adaptive executor holds Swing's event thread, and what the meter costs`() {
        for (program in listOf("clearway.meter.OffloadFromWindow", "clearway.meter.MeterCost")) {
            val said = WindowProgram(program).run()
            println(said ?: VirtualDisplay.MISSING)
            assertTrue(said != null)
        }
    }
}

private fun showWindow(title: String) = onEventThread {
    val frame = JFrame(title)
    frame.contentPane.add(JLabel("Clearway"))
    frame.setSize(320, 120)
    frame.isVisible = true
}

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
        showWindow("Known stalls")
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

/**
 * Runs the five workloads of the lab's family *offload* on the adaptive executor, from Swing's event thread. A batch
 * has a hundred actions; the budget is 1 ms. A baseline runs no batch. Prints a table of the longest time that the
 * event thread was held, as the meter saw it and in the calls alone.
 */
object OffloadFromWindow {
    private const val BUDGET_MS = 1L
    private const val ACTIONS = 100
    private const val BATCHES = 150
    /** Name of the baseline, which runs no work. The baseline runs before and after the workloads. */
    private const val NOTHING = "nothing"
    private const val CELL_NS = 4_000_000_000L
    private val seeds = (0 until ACTIONS).toList()
    private val threads = ManagementFactory.getThreadMXBean()
    @Volatile private var sink = 0.0

    @JvmStatic
    fun main(args: Array<String>) {
        showWindow("Offload")
        val works =
            mapOf<String, (Int) -> Unit>(
                "arithmetic" to ::arithmetic,
                "lists" to ::lists,
                "storage" to ::storage,
                "network" to ::network,
                "mixed" to ::mixed,
            )
        println("budget $BUDGET_MS ms; JDK ${Runtime.version().feature()}; longest, ms")
        println(
            "work        batches       stall  less what the machine took  collections of it  in a call  " +
                "processor time of it  why, machine apart"
        )
        AdaptiveExecutor().use { executor ->
            onEventThread { executor.registerEventThread(Thread.currentThread()) }
            // Samples no stacks. On JDK 17, a stack sample stops the whole JVM, which would be the longest stall.
            val options = MeterOptions().floorMs(1.0).beatMs(1.0).stacks(false)
            Meter.watch(SwingUtilities::invokeLater, options).use { watch ->
                watch.ready.get()
                // Waits until AWT and the meter have loaded classes on first use. That time is not a cost of the
                // executor.
                Thread.sleep(500)
                cell(NOTHING, watch) { CompletableFuture.completedFuture(null) }
                for ((name, work) in works) {
                    val site = executor.site(name)
                    cell(name, watch) { executor.runAllAsync(site, seeds) { work(it) } }
                }
                cell(NOTHING, watch) { CompletableFuture.completedFuture(null) }
            }
        }
        System.exit(0)
    }

    private fun cell(name: String, watch: StallWatch, batch: () -> CompletableFuture<Void?>) {
        var longestCallNs = 0L
        var longestRunNs = 0L
        var batches = 0
        watch.reset()
        val endNs = System.nanoTime() + CELL_NS
        while (batches < BATCHES && System.nanoTime() < endNs) {
            var future = CompletableFuture<Void?>()
            onEventThread {
                val fromCpuNs = threads.currentThreadCpuTime
                val fromNs = System.nanoTime()
                future = batch()
                longestCallNs = maxOf(longestCallNs, System.nanoTime() - fromNs)
                longestRunNs = maxOf(longestRunNs, threads.currentThreadCpuTime - fromCpuNs)
            }
            future.get()
            batches++
            Thread.sleep(2)
        }
        // The meter explains a stall 0.1 s after its end.
        Thread.sleep(150)
        val stalls = watch.report().stalls
        val longest = stalls.maxByOrNull { it.lengthMs }
        val own = stalls.maxByOrNull { it.lengthMs - it.machineMs }
        println(
            "%-11s %7d %11.2f %27.2f %18.2f %10.2f %21.2f  %s"
                .format(
                    name,
                    batches,
                    longest?.lengthMs ?: 0.0,
                    own?.let { it.lengthMs - it.machineMs } ?: 0.0,
                    own?.gcMs ?: 0.0,
                    longestCallNs / 1e6,
                    longestRunNs / 1e6,
                    own?.let { "${it.cause.word}: ${it.because}" } ?: "none of 1 ms or longer",
                )
        )
    }

    private fun arithmetic(seed: Int) {
        sink = Math.pow(seed.toDouble(), seed.toDouble())
    }

    private fun lists(seed: Int) {
        val keyed = List(seed) { it }.map { it.toDouble() + 0.3 }.associateBy { it.toString() }
        sink = keyed.mapValues { it.value * it.value }.filter { it.value > 5 }.size.toDouble()
    }

    private fun storage(seed: Int) {
        val endNs = System.nanoTime() + (500 + 10 * seed) * 1_000L
        while (true) {
            val leftNs = endNs - System.nanoTime()
            if (leftNs <= 0) return
            LockSupport.parkNanos(leftNs)
        }
    }

    private fun network(seed: Int): Unit = Thread.sleep(seed.toLong())

    private fun mixed(seed: Int) {
        when {
            seed % 5 == 0 -> network(seed)
            seed % 3 == 0 -> storage(seed)
            seed % 2 == 0 -> lists(seed)
            else -> arithmetic(seed)
        }
    }
}

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
        showWindow("Cost")
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
