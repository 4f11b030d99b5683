// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/**
 * This machine's costs of moving work, in ns. Measured at start and updated afterwards; the defaults are what two
 * virtual cores showed, and serve until then.
 */
internal data class Costs(
    /** Threads that can run at the same time: the cgroup's limit where there is one. */
    val processors: Int,
    /** One reading of the monotonic clock. */
    val clockNs: Long = 30,
    /** One reading of the thread's CPU clock; a system call. */
    val cpuClockNs: Long = 600,
    /** The caller's cost of handing a batch to one parked CPU worker. */
    val offerNs: Long = 5_000,
    /** From the hand-over until a parked CPU worker claims its first item. */
    val wakeNs: Long = 40_000,
    /** The caller's cost of handing a batch to one elastic thread. */
    val startNs: Long = 10_000,
    /** From the hand-over until an elastic thread claims its first item. */
    val startedNs: Long = 60_000,
    /** The most elastic threads that one executor has. */
    val elasticMax: Int = 256,
)
