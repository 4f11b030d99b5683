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
    /** Number of threads that have left the batch, because they found no item to claim. */
    val left: Int = 0,
)

/**
 * Decides how many threads to add to a batch that runs for long. Each batch has its own instance. It changes only its
 * own state.
 */
internal class Growth(private val costs: Costs) {
    private var step = 1
    private var helped = false
    private var waitingBefore = Int.MAX_VALUE
    private var unchangedSamples = 0
    private var patience = PATIENCE_MIN
    private var rescues = 0
    private var wasEmpty = false

    /**
     * A number of threads to add now. `elastic` selects elastic threads (extra threads, for items that block),
     * otherwise CPU workers.
     */
    class More(val threads: Int, val elastic: Boolean)

    /**
     * Returns how many threads to add after one sample. Adds threads that make the batch faster ([faster]). Otherwise,
     * adds one thread when no thread has claimed a waiting item for many samples: the running items may wait for the
     * waiting ones, even while they keep the processors busy. The patience doubles each time, so that long items get
     * few threads more than processors. Adds one thread at once when all threads have left the batch: they did not find
     * items that were taken back from one of them.
     */
    fun next(sample: BatchSample): More {
        unchangedSamples = if (sample.waiting < waitingBefore) 0 else unchangedSamples + 1
        waitingBefore = sample.waiting
        if (sample.waiting == 0) return NONE
        val isEmpty = sample.awake + sample.asleep == 0
        val isNewlyEmpty = isEmpty && !wasEmpty && sample.left > 0
        wasEmpty = isEmpty
        val more = faster(sample)
        if (more.threads > 0) return more
        if (isNewlyEmpty) return More(1, elastic = true)
        if (unchangedSamples < patience) return NONE
        unchangedSamples = 0
        patience = minOf(patience * 2, PATIENCE_MAX)
        // A batch that no thread has joined waits for its turn in a queue. It gets a place in the CPU workers' queue,
        // which moves when these workers are stuck, and no thread more than there are. Otherwise alternates, because
        // one of the two kinds may have no thread left.
        val wasJoined = !isEmpty || sample.left > 0
        return More(1, elastic = wasJoined && rescues++ % 2 == 0)
    }

    /**
     * Returns how many threads make the batch faster. While items wait, threads sleep in items and a processor is idle,
     * each call adds twice as many elastic threads as the call before. A thread that is ready without a processor does
     * not sleep, so no thread is added for it.
     */
    private fun faster(sample: BatchSample): More {
        if (sample.awake >= costs.processors) return NONE
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

    companion object {
        private val NONE = More(0, elastic = false)
        /**
         * Initial patience, in samples of the watchdog: 64 ms to 0.5 s. It is longer than most items, also on a machine
         * whose threads share a processor with ten others, and short for a waiting caller.
         */
        const val PATIENCE_MIN: Int = 64
        /** Maximum patience, in samples: a minute or more. */
        private const val PATIENCE_MAX = 1 shl 16
    }
}

/**
 * Estimates how many processors the process uses, from its CPU time. Linux updates that clock in steps of 10 ms: two
 * readings 1 ms apart would show either no progress or ten busy processors. So one estimate spans a window of several
 * steps. The estimate is 0 before the first window has passed. Reads no clock itself.
 */
internal class Load {
    private var fromCpuNs = -1L
    private var fromNs = 0L

    /** Number of processors that the process used over the last complete window. 0 if unknown. */
    var used: Double = 0.0
        private set

    /**
     * Adds a reading: the process had used `cpuNs` of CPU time at `nowNs`. `cpuNs` is -1 if the host does not count it.
     */
    fun sample(cpuNs: Long, nowNs: Long) {
        val ns = nowNs - fromNs
        val known = cpuNs >= 0 && fromCpuNs >= 0
        if (known && ns in 0 until WINDOW_NS) return
        // After a long time without readings, the average says little about the present.
        used = if (known && ns in WINDOW_NS..STALE_NS) (cpuNs - fromCpuNs).toDouble() / ns else 0.0
        fromCpuNs = cpuNs
        fromNs = nowNs
    }

    companion object {
        /**
         * Length of the window, in ns: five steps of Linux's clock. The error is at most a fifth of a processor, which
         * rounding removes.
         */
        const val WINDOW_NS: Long = 50_000_000
        private const val STALE_NS = 4 * WINDOW_NS
    }
}
