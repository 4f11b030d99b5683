// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

/**
 * A strategy that runs the actions of a batch. Owns its threads, if it has any; `close` ends them. One thread uses it,
 * and runs one batch at a time.
 */
internal interface Strategy : AutoCloseable {
    /** Runs every action, writes its result to its place in `results`, and returns when all have run. Blocks. */
    fun batch(seeds: IntArray, action: Action, results: DoubleArray)

    override fun close() {}
}

/** A strategy, by its name in the scenario files. `unavailable` says why it cannot run here and how to make it run. */
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
