// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/** Places where a batch can run. */
internal enum class Place {
    /** The caller alone. */
    INLINE,
    /** The caller and the CPU workers. */
    CPU,
    /** The caller and as many elastic threads as help. */
    ELASTIC,
}

/** The measurements of one finished batch. Times in ns. */
internal class Observation(
    val place: Place,
    /** Number of items that ran to their end and were timed. */
    val items: Int,
    /** Sum of their wall times, over all threads. */
    val itemsNs: Long,
    /** Time from publishing the batch to the end of its last item. */
    val elapsedNs: Long,
    /** Wall and CPU time of the threads whose CPU clock was read, over `cpuItems` items. 0 items if none was read. */
    val cpuItems: Int = 0,
    val cpuWallNs: Long = 0,
    val cpuNs: Long = 0,
    /** Part of that time in which the threads were ready without a processor. 0 if the host does not count it. */
    val waitedNs: Long = 0,
    /** Whether all processors were busy: then a thread that did not run need not have slept. */
    val crowded: Boolean = false,
    /** Whether the garbage collector stopped the threads meanwhile. */
    val paused: Boolean = false,
    /** Whether threads slept in items while a processor was free. */
    val slept: Boolean = false,
    /** Items per [DurationHistogram.bucketOf], if each item was timed. */
    val buckets: IntArray? = null,
    /** The [Prediction] of `elapsedNs` before corrections. 0 without a prediction. */
    val predictedNs: Double = 0.0,
    /** Whether more threads joined than planned: then the batch says nothing about the plan. */
    val grew: Boolean = false,
)
