// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/**
 * The costs of moving work between threads on this machine, in ns. The executor measures them at start-up and updates
 * them after batches. The defaults were measured on two virtual cores.
 */
internal data class Costs(
    /** Number of threads that can run at the same time. A cgroup's quota limits it. */
    val processors: Int,
    /** Cost of one reading of the monotonic clock. */
    val clockNs: Long = 30,
    /** Cost of one reading of the thread's CPU clock, which is a system call. */
    val cpuClockNs: Long = 600,
    /** Cost of handing a batch to one parked CPU worker, for the calling thread. */
    val offerNs: Long = 5_000,
    /** Time from the hand-over until a parked CPU worker claims its first item. */
    val wakeNs: Long = 40_000,
    /**
     * Cost of handing a batch to one elastic thread (an extra thread, for items that block), for the calling thread.
     */
    val startNs: Long = 10_000,
    /** Time from the hand-over until an elastic thread claims its first item. */
    val startedNs: Long = 60_000,
    /** Maximum number of elastic threads of one batch. */
    val elasticMax: Int = 256,
)
