// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.model

/**
 * How long work may still hold an event thread: `budgetNs` in any frame of `frameNs`, refilled as time goes by. Pure:
 * the time is given. For one thread.
 */
internal class EventBudget(private val budgetNs: Long, private val frameNs: Long = FRAME_NS) {
    private var leftNs = budgetNs.toDouble()
    private var atNs = Long.MIN_VALUE

    /** Whether work that takes at most `worstNs` fits in now. */
    fun admits(worstNs: Double, nowNs: Long): Boolean {
        refill(nowNs)
        return worstNs <= leftNs
    }

    /** Takes what work took. May go under zero: the next frames then pay. */
    fun spend(tookNs: Long, nowNs: Long) {
        refill(nowNs)
        leftNs -= tookNs
    }

    private fun refill(nowNs: Long) {
        if (atNs != Long.MIN_VALUE) {
            leftNs = minOf(budgetNs.toDouble(), leftNs + (nowNs - atNs).toDouble() * budgetNs / frameNs)
        }
        atNs = nowNs
    }

    private companion object {
        /** A frame at 60 Hz. */
        const val FRAME_NS = 16_666_667L
    }
}
