// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import clearway.executor.AdaptiveExecutor
import java.lang.management.ManagementFactory
import java.util.concurrent.CompletableFuture
import java.util.concurrent.locks.LockSupport
import javax.swing.JFrame
import javax.swing.SwingUtilities

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
        onEventThread {
            val frame = JFrame("Offload")
            frame.setSize(320, 120)
            frame.isVisible = true
        }
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
