// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/** A sample of a running batch. */
internal class Look(
    /** Items that no thread has begun. */
    val waiting: Int,
    /** Threads in items that slept since the last look. */
    val asleep: Int,
    /** Threads in items that ran, or would have if they had been given a processor. */
    val awake: Int,
    /** Idle processors since the last sample. */
    val idleProcessors: Int,
)

/** How many threads join a batch that goes on longer than was thought; one for a batch. Pure, but for its memory. */
internal class Growth(private val costs: Costs) {
    private var step = 1
    private var helped = false

    /** How many to add now, and whether they are elastic threads (else CPU workers). */
    class More(val threads: Int, val elastic: Boolean)

    /**
     * Doubles at every look while items wait, threads sleep in items and a processor is idle. A thread that is awake
     * without a processor is not asleep: no thread is added for it.
     */
    fun next(look: Look): More {
        if (look.waiting == 0 || look.awake >= costs.processors) return NONE
        if (look.asleep > 0 && look.idleProcessors > 0) {
            val threads = minOf(step, look.waiting, costs.elasticMax - look.asleep)
            step = minOf(step * 2, costs.elasticMax)
            return if (threads > 0) More(threads, elastic = true) else NONE
        }
        if (look.asleep > 0 || look.idleProcessors == 0) return NONE
        // CPU workers first. When none came by the next look, all of them hang in other items.
        val more = More(minOf(costs.processors - look.awake, look.waiting), elastic = helped)
        helped = true
        return more
    }

    private companion object {
        val NONE = More(0, elastic = false)
    }
}
