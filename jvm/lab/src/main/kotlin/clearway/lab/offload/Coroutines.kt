// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.flow.flatMapMerge
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.flowOn
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

private val processors = Runtime.getRuntime().availableProcessors()

/**
 * Strategies of kotlinx.coroutines. They start one coroutine per action, or use flows. Flows are merged if several
 * actions may run at the same time.
 */
internal val coroutineStrategies: List<StrategyKind> =
    listOf(
        StrategyKind("coroutines-launch") { Blocking() },
        StrategyKind("flow-map") { OneFlow() },
        StrategyKind("coroutines-launch-default") { Launching(Dispatchers.Default) },
        StrategyKind("coroutines-launch-default-limited") {
            Launching(Dispatchers.Default.limitedParallelism(processors))
        },
        StrategyKind("flow-flatmapmerge-default") { Merging(Dispatchers.Default, DEFAULT_CONCURRENCY) },
        StrategyKind("flow-flatmapmerge-cores") { Merging(Dispatchers.Default, processors) },
        StrategyKind("coroutines-launch-io") { Launching(Dispatchers.IO) },
        StrategyKind("flow-flatmapmerge-io") { Merging(Dispatchers.IO, MANY) },
    )

/** The default concurrency of `flatMapMerge`. */
private const val DEFAULT_CONCURRENCY = 16

/** Runs coroutines on the calling thread's own event loop. */
private class Blocking : Strategy {
    override fun batch(seeds: IntArray, action: Action, results: DoubleArray) = runBlocking {
        for (at in seeds.indices) launch { results[at] = action.run(seeds[at]) }
    }
}

private class Launching(private val dispatcher: CoroutineDispatcher) : Strategy {
    override fun batch(seeds: IntArray, action: Action, results: DoubleArray) = runBlocking {
        for (at in seeds.indices) launch(dispatcher) { results[at] = action.run(seeds[at]) }
    }
}

private class OneFlow : Strategy {
    override fun batch(seeds: IntArray, action: Action, results: DoubleArray) = runBlocking {
        seeds.indices.asFlow().map { at -> results[at] = action.run(seeds[at]) }.collect()
    }
}

private class Merging(private val dispatcher: CoroutineDispatcher, private val concurrency: Int) : Strategy {
    @OptIn(ExperimentalCoroutinesApi::class) // Flows need flatMapMerge to run several actions at a time.
    override fun batch(seeds: IntArray, action: Action, results: DoubleArray) = runBlocking {
        seeds.indices
            .asFlow()
            .flatMapMerge(concurrency) { at -> flow { emit(action.run(seeds[at]).also { results[at] = it }) } }
            .flowOn(dispatcher)
            .collect()
    }
}
