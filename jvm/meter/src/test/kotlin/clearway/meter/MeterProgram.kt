// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors

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
