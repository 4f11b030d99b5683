// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.Clock
import clearway.executor.model.EventBudget
import java.util.concurrent.ConcurrentHashMap

/** The threads that nothing may hold, and how long work may still hold each. */
internal class EventThreads(private val clock: Clock) {
    private val budgets = ConcurrentHashMap<Thread, EventBudget>()

    fun register(thread: Thread, budgetNs: Long) {
        budgets.keys.removeIf { it.state == Thread.State.TERMINATED }
        budgets[thread] = EventBudget(budgetNs)
    }

    fun isOne(thread: Thread): Boolean = !budgets.isEmpty() && budgets.containsKey(thread)

    /** Whether work of at most `worstNs` may run on the current thread: always where it is no event thread. */
    fun admits(worstNs: Double): Boolean {
        if (budgets.isEmpty()) return true
        return budgets[Thread.currentThread()]?.admits(worstNs, clock.nanoTime()) ?: true
    }

    fun spend(tookNs: Long) {
        if (!budgets.isEmpty()) budgets[Thread.currentThread()]?.spend(tookNs, clock.nanoTime())
    }
}
