// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/** The threads that a batch can run on. */
internal enum class Placement {
    /** The caller alone. */
    INLINE,
    /** The caller and the CPU workers. */
    CPU,
    /** The caller and elastic threads (extra threads, for items that block): as many as make the batch faster. */
    ELASTIC,
}

/** The measurements of one finished batch. Times are in ns. */
internal class Observation(
    val place: Placement,
    /** Number of items that ran to their end and were timed. */
    val items: Int,
    /** Sum of the wall times of these items, over all threads. */
    val itemsNs: Long,
    /** Time from publishing the batch to the end of its last item. */
    val elapsedNs: Long,
    /** Number of items that ran on threads whose CPU clock was read. 0 if no thread's CPU clock was read. */
    val cpuItems: Int = 0,
    /** Wall time of the threads whose CPU clock was read. */
    val cpuWallNs: Long = 0,
    /** CPU time of the threads whose CPU clock was read. */
    val cpuNs: Long = 0,
    /** Part of `cpuWallNs` in which the threads were ready without a processor. 0 if the host does not count it. */
    val waitedNs: Long = 0,
    /**
     * Whether all processors were probably busy. If so, a thread that did not run may have waited for a processor
     * instead of sleeping.
     */
    val crowded: Boolean = false,
    /** Whether the garbage collector ran during the batch, and may have stopped its threads. */
    val paused: Boolean = false,
    /** Whether threads slept in items while a processor was free. */
    val slept: Boolean = false,
    /** Number of items per [DurationHistogram.bucketOf]. Null unless each item was timed. */
    val buckets: IntArray? = null,
    /**
     * The [Prediction] of `elapsedNs`, without the correction factor that [SiteModel] learns for each place. 0 if there
     * was no prediction.
     */
    val predictedNs: Double = 0.0,
    /**
     * Whether the batch's time cannot be compared with its prediction: more threads joined than planned, threads may
     * not share the batch (an ordered site), an item failed, or the batch was cancelled.
     */
    val offPlan: Boolean = false,
)

/**
 * Whether a batch probably kept all processors busy. It did if it ran on more threads than processors, and its threads
 * together used more than [CROWDED] of the processors' time.
 */
internal fun isCrowded(threads: Int, cpuNs: Long, elapsedNs: Long, processors: Int): Boolean =
    threads > processors && cpuNs > elapsedNs * processors * CROWDED

/** A batch that used more than this share of the processors' time is crowded. */
private const val CROWDED = 0.9
