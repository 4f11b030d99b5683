// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/** Where a batch ran, or may run. */
internal enum class Place {
    /** The caller alone. */
    INLINE,
    /** The caller and the CPU workers. */
    CPU,
    /** The caller and as many elastic threads as pay. */
    ELASTIC,
}

/** Measurements of one finished batch. Times in ns. */
internal class Observation(
    val place: Place,
    /** Items that ran to their end and were timed. */
    val items: Int,
    /** The sum of their wall time, over all threads. */
    val itemsNs: Long,
    /** From publishing the batch to its last item's end. */
    val elapsedNs: Long,
    /** Wall and CPU time of the threads whose CPU clock was read, over `cpuItems` items; 0 items where none was. */
    val cpuItems: Int = 0,
    val cpuWallNs: Long = 0,
    val cpuNs: Long = 0,
    /**
     * The part of it in which the threads were ready to run and had no processor; 0 where the system does not report
     * it.
     */
    val waitedNs: Long = 0,
    /** The machine had no processor free meanwhile: a thread that did not run need not have slept. */
    val crowded: Boolean = false,
    /** The collector stopped the threads meanwhile. */
    val paused: Boolean = false,
    /** Threads were seen asleep in items while a processor was free. */
    val slept: Boolean = false,
    /** Items counted by [DurationHistogram.bucketOf], where each was timed. */
    val buckets: IntArray? = null,
    /** [Prediction]'s value for `elapsedNs` before corrections; 0 without one. */
    val predictedNs: Double = 0.0,
    /** More threads joined than were planned: says nothing of the plan's worth. */
    val grew: Boolean = false,
)
