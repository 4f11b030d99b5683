// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.published

import clearway.lab.offload.Action
import clearway.lab.offload.Strategies
import clearway.lab.offload.Strategy
import clearway.lab.offload.StrategyKind

/**
 * The lab's own ways, beside the published ones: every strategy of the scenario `works` but the plain loop. They are
 * the frameworks' idioms for a batch, the JDK's `invokeAll`, virtual threads, and Clearway's executor.
 */
internal val ownWays: List<WayKind> = Strategies.all.filter { it.name != "direct" }.map(::wayOf)

private fun wayOf(kind: StrategyKind): WayKind =
    WayKind(kind.name, isPublished = false, unavailable = kind.unavailable) { Batched(kind.open()) }

/** Runs a list as a batch of a strategy. The action stores its own result, so the batch's results are not used. */
private class Batched(private val strategy: Strategy) : Way {
    private val unused = DoubleArray(ACTIONS_MAX)

    override fun run(list: List<Int>, action: (Int) -> Any) {
        val run = Action { seed ->
            action(seed)
            0.0
        }
        strategy.batch(list.toIntArray(), run, unused)
    }

    override fun close() = strategy.close()

    private companion object {
        /** The largest list of a scenario. */
        const val ACTIONS_MAX = 1_000
    }
}
