// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

/**
 * Numbers of an executor at one time, for metrics. They are read one after another while the executor runs, so they may
 * differ by a few tasks. Tasks are those of `execute`, `submit`, `callAsync` and `settleEach`; a batch counts as no
 * task.
 *
 * @property cpuThreads number of CPU workers that exist. Idle ones end after 20 seconds
 * @property cpuThreadsMax maximum number of CPU workers
 * @property tasksWaiting number of tasks that have not begun
 * @property tasksRunning number of tasks that run
 * @property tasksEnded number of tasks that have run to their end, with or without an exception
 * @property batchesRunning number of batches that run
 * @property sites number of sites that the executor keeps
 */
public class ExecutorStatus
internal constructor(
    public val cpuThreads: Int,
    public val cpuThreadsMax: Int,
    public val tasksWaiting: Long,
    public val tasksRunning: Long,
    public val tasksEnded: Long,
    public val batchesRunning: Int,
    public val sites: Int,
) {
    override fun toString(): String =
        "cpuThreads=$cpuThreads of $cpuThreadsMax, tasksWaiting=$tasksWaiting, tasksRunning=$tasksRunning, " +
            "tasksEnded=$tasksEnded, batchesRunning=$batchesRunning, sites=$sites"
}
