// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/**
 * The cost of moving work on this machine, in ns. Measured at start-up and updated afterwards. The defaults come from
 * two virtual cores and apply until then.
 */
internal data class Costs(
    /** Number of threads that can run at the same time: the cgroup's limit if there is one. */
    val processors: Int,
    /** Cost of one reading of the monotonic clock. */
    val clockNs: Long = 30,
    /** Cost of one reading of the thread's CPU clock, which is a system call. */
    val cpuClockNs: Long = 600,
    /** Cost for the caller of handing a batch to one parked CPU worker. */
    val offerNs: Long = 5_000,
    /** Time from the hand-over until a parked CPU worker claims its first item. */
    val wakeNs: Long = 40_000,
    /** Cost for the caller of handing a batch to one elastic thread. */
    val startNs: Long = 10_000,
    /** Time from the hand-over until an elastic thread claims its first item. */
    val startedNs: Long = 60_000,
    /** Maximum number of elastic threads of one executor. */
    val elasticMax: Int = 256,
)
