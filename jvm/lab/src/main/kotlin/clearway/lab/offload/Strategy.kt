// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

/**
 * A way to run the actions of a batch. Owns its threads, where it has some of its own; `close` ends them. One batch at
 * a time, from one thread.
 */
internal interface Strategy : AutoCloseable {
    /** Runs every action, writes what it gave back to its place in `results`, and returns when all have run. Blocks. */
    fun batch(seeds: IntArray, action: Action, results: DoubleArray)

    override fun close() {}
}

/** What can be opened, by the names of the scenario files. `unavailable`: why not here, and what makes it run. */
internal class StrategyKind(val name: String, val unavailable: String? = null, val open: () -> Strategy)

internal object Strategies {
    val all: List<StrategyKind> =
        listOf(StrategyKind("direct") { Direct() }) +
            coroutineStrategies +
            rxStrategies +
            executorStrategies +
            StrategyKind("clearway-adaptive") { Adaptive() }

    fun named(name: String): StrategyKind =
        requireNotNull(all.find { it.name == name }) { "no such strategy: $name (${all.joinToString { it.name }})" }
}

private class Direct : Strategy {
    override fun batch(seeds: IntArray, action: Action, results: DoubleArray) {
        for (at in seeds.indices) results[at] = action.run(seeds[at])
    }
}
