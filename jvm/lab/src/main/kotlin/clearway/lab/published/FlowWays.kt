// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.published

import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.flowOn
import kotlinx.coroutines.flow.merge
import kotlinx.coroutines.runBlocking

/**
 * The published ways of Flow: one flow per action, and all of them merged. `merge()` of a list has no limit of its own:
 * it collects all flows at the same time. Only the merge of a flow of flows (`flattenMerge`) has a limit, of 16.
 */
internal val flowWays: List<WayKind> =
    listOf(
        published("flow") { Flows() },
        published("flow-default") { FlowsOn(Dispatchers.Default) },
        published("flow-default-limited") { FlowsOn(Dispatchers.Default.limitedParallelism(PROCESSORS)) },
        published("flow-io") { FlowsOn(Dispatchers.IO) },
    )

/** Runs the flows on the calling thread's own event loop. */
private class Flows : Way {
    override fun run(list: List<Int>, action: (Int) -> Any) = runBlocking {
        val flows = list.map { flow { emit(action(it)) } }
        flows.merge().collect()
    }
}

internal class FlowsOn(private val dispatcher: CoroutineDispatcher) : Way {
    override fun run(list: List<Int>, action: (Int) -> Any) = runBlocking {
        val flows = list.map { flow { emit(action(it)) }.flowOn(dispatcher) }
        flows.merge().collect()
    }
}
