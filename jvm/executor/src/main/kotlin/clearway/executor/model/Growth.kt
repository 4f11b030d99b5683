// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/** A sample of a running batch. */
internal class BatchSample(
    /** Number of items that no thread has claimed. */
    val waiting: Int,
    /** Number of threads that sleep in items. */
    val asleep: Int,
    /** Number of threads that run items, or are ready to run without a processor. */
    val awake: Int,
    /** Estimated number of processors that the process did not use recently. */
    val idleProcessors: Int,
)

/**
 * Decides how many threads to add to a batch that runs for long. Each batch has its own instance. It changes only its
 * own state.
 */
internal class Growth(private val costs: Costs) {
    private var step = 1
    private var helped = false

    /**
     * A number of threads to add now. `elastic` selects elastic threads (extra threads, for items that block),
     * otherwise CPU workers.
     */
    class More(val threads: Int, val elastic: Boolean)

    /**
     * Returns how many threads to add after one sample. While items wait, threads sleep in items and a processor is
     * idle, each call adds twice as many elastic threads as the call before. A thread that is ready without a processor
     * does not sleep, so no thread is added for it.
     */
    fun next(sample: BatchSample): More {
        if (sample.waiting == 0 || sample.awake >= costs.processors) return NONE
        if (sample.asleep > 0 && sample.idleProcessors > 0) {
            val threads = minOf(step, sample.waiting, costs.elasticMax - sample.asleep)
            step = minOf(step * 2, costs.elasticMax)
            return if (threads > 0) More(threads, elastic = true) else NONE
        }
        if (sample.asleep > 0 || sample.idleProcessors == 0) return NONE
        // Adds CPU workers first. If none of them has joined by the next sample, all of them hang in other items. The
        // next call then adds elastic threads.
        val more = More(minOf(costs.processors - sample.awake, sample.waiting), elastic = helped)
        helped = true
        return more
    }

    private companion object {
        val NONE = More(0, elastic = false)
    }
}
