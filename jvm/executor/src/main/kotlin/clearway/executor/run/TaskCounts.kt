// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.ExecutorStatus
import java.util.concurrent.atomic.LongAdder

/** Numbers of single tasks since the executor was created. Adders, because all threads count. */
internal class TaskCounts {
    val submitted = LongAdder()
    val begun = LongAdder()
    val ended = LongAdder()
    val dropped = LongAdder()

    /** Returns a status. Reads the later numbers of a task first, so that no difference is negative. */
    fun status(cpuThreads: Int, cpuThreadsMax: Int, batchesRunning: Int, sites: Int): ExecutorStatus {
        val ended = ended.sum()
        val dropped = dropped.sum()
        val begun = begun.sum()
        val submitted = submitted.sum()
        return ExecutorStatus(
            cpuThreads,
            cpuThreadsMax,
            maxOf(0, submitted - begun - dropped),
            maxOf(0, begun - ended),
            ended,
            batchesRunning,
            sites,
        )
    }
}
