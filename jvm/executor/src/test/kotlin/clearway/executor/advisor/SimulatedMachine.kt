// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.advisor

import clearway.executor.host.Clock
import java.util.concurrent.AbstractExecutorService
import java.util.concurrent.ExecutorService
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit

/**
 * A simulated machine with a fake clock. Each task states how long it runs and sleeps. Only hand-overs, tasks and
 * [await] move the clock.
 */
internal class SimulatedMachine(workers: Int, private val handNs: Long = 5_000, private val wakeNs: Long = 40_000) :
    Clock {
    private var nowNs = 1_000_000L
    private var cpuNs = 0L
    private val freeFromNs = LongArray(workers)
    private val queue = ArrayDeque<Pair<Long, Runnable>>()
    var isShut = false

    /** A task that runs and sleeps for the given times, for this machine's pool. */
    inner class Work(private val runNs: Long, private val sleepNs: Long = 0) : Runnable {
        override fun run() {
            nowNs += runNs + sleepNs
            cpuNs += runNs
        }
    }

    /**
     * A simulated pool. Its tasks wait until `await` is called, and each one then starts when a worker is free. The
     * tasks run on the calling thread; only the clock simulates the workers.
     */
    val pool: ExecutorService =
        object : AbstractExecutorService() {
            override fun execute(task: Runnable) {
                if (isShut) throw RejectedExecutionException("closed")
                queue += nowNs to task
                nowNs += handNs
            }

            override fun shutdown() {
                isShut = true
            }

            override fun shutdownNow(): MutableList<Runnable> {
                isShut = true
                return queue.map { it.second }.toMutableList().also { queue.clear() }
            }

            override fun isShutdown(): Boolean = isShut

            override fun isTerminated(): Boolean = isShut && queue.isEmpty()

            override fun awaitTermination(timeout: Long, unit: TimeUnit): Boolean = isTerminated
        }

    /**
     * Runs all submitted tasks, as if the caller waited for them. Then moves the clock, as if the caller did other
     * work.
     */
    fun await() {
        var endNs = nowNs
        while (queue.isNotEmpty()) {
            val (givenNs, task) = queue.removeFirst()
            val worker = freeFromNs.indices.minBy { freeFromNs[it] }
            nowNs = maxOf(givenNs + wakeNs, freeFromNs[worker])
            task.run()
            freeFromNs[worker] = nowNs
            endNs = maxOf(endNs, nowNs)
        }
        nowNs = endNs + BETWEEN_NS
    }

    override fun nanoTime(): Long = nowNs

    override fun threadCpuNs(): Long = cpuNs

    override fun cpuNsOf(thread: Thread): Long = -1

    override fun processCpuNs(): Long = -1

    override fun collections(): Long = 0

    private companion object {
        const val BETWEEN_NS = 1_000_000L
    }
}
