// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.advisor

import clearway.executor.host.Clock
import java.util.concurrent.AbstractExecutorService
import java.util.concurrent.ExecutorService
import java.util.concurrent.TimeUnit

/**
 * Passes every task to the wrapped executor and measures the task's times. It does not change where or when tasks run.
 */
internal class WatchedExecutor(
    private val behind: ExecutorService,
    private val site: WatchedSite,
    private val clock: Clock,
) : AbstractExecutorService() {

    override fun execute(task: Runnable) {
        val submittedNs = clock.nanoTime()
        val watched = Watched(task, site.submitted(submittedNs), submittedNs)
        try {
            behind.execute(watched)
        } catch (refused: Throwable) {
            site.refused(watched.burst)
            throw refused
        }
        site.handedOver(watched.burst, clock.nanoTime() - submittedNs)
    }

    private inner class Watched(val task: Runnable, val burst: Burst, private val submittedNs: Long) : Runnable {
        override fun run() {
            val beganNs = clock.nanoTime()
            site.begun(burst, submittedNs, beganNs)
            val cpuNs = if (site.readsCpu()) clock.threadCpuNs() else -1
            try {
                task.run()
            } finally {
                val ranCpuNs = if (cpuNs < 0) -1 else clock.threadCpuNs() - cpuNs
                site.ended(burst, beganNs, clock.nanoTime(), ranCpuNs)
            }
        }

        override fun toString(): String = task.toString()
    }

    override fun shutdown(): Unit = behind.shutdown()

    override fun shutdownNow(): MutableList<Runnable> =
        behind
            .shutdownNow()
            .map { left -> if (left is Watched) left.task.also { site.dropped(left.burst) } else left }
            .toMutableList()

    override fun isShutdown(): Boolean = behind.isShutdown

    override fun isTerminated(): Boolean = behind.isTerminated

    override fun awaitTermination(timeout: Long, unit: TimeUnit): Boolean = behind.awaitTermination(timeout, unit)
}
