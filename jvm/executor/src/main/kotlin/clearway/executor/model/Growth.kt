// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/** A sample of a running batch. */
internal class Look(
    /** Number of items that no thread has started. */
    val waiting: Int,
    /** Number of threads in items that slept since the last sample. */
    val asleep: Int,
    /** Number of threads in items that ran, or were ready without a processor. */
    val awake: Int,
    /** Number of processors that were idle since the last sample. */
    val idleProcessors: Int,
)

/**
 * Decides how many threads join a batch that runs longer than predicted. One instance per batch. Pure, except for its
 * state.
 */
internal class Growth(private val costs: Costs) {
    private var step = 1
    private var helped = false

    /** Number of threads to add now. `elastic` selects elastic threads, else CPU workers. */
    class More(val threads: Int, val elastic: Boolean)

    /**
     * Decides by one sample. Doubles the number at every sample while items wait, threads sleep in items and a
     * processor is idle. A thread that is ready without a processor is not asleep, so no thread is added for it.
     */
    fun next(look: Look): More {
        if (look.waiting == 0 || look.awake >= costs.processors) return NONE
        if (look.asleep > 0 && look.idleProcessors > 0) {
            val threads = minOf(step, look.waiting, costs.elasticMax - look.asleep)
            step = minOf(step * 2, costs.elasticMax)
            return if (threads > 0) More(threads, elastic = true) else NONE
        }
        if (look.asleep > 0 || look.idleProcessors == 0) return NONE
        // Asks CPU workers first. If none has joined by the next sample, all of them hang in other items.
        val more = More(minOf(costs.processors - look.awake, look.waiting), elastic = helped)
        helped = true
        return more
    }

    private companion object {
        val NONE = More(0, elastic = false)
    }
}
