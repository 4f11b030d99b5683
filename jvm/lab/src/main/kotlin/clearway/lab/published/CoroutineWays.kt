// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.published

import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext

/** The published ways of coroutines: one `async` per action, all of them awaited in order. */
internal val coroutineWays: List<WayKind> =
    listOf(
        published("coroutines-blocking") { Asyncs() },
        published("coroutines-default") { AsyncsOn(Dispatchers.Default) },
        published("coroutines-default-limited") { AsyncsOn(Dispatchers.Default.limitedParallelism(PROCESSORS)) },
        published("coroutines-io") { AsyncsOn(Dispatchers.IO) },
    )

/** Runs the coroutines on the calling thread's own event loop. */
private class Asyncs : Way {
    override fun run(list: List<Int>, action: (Int) -> Any) = runBlocking {
        list.map { async { action(it) } }.forEach { it.await() }
    }
}

/** Starts each coroutine on the calling thread. `withContext` then moves it to the dispatcher and back. */
internal class AsyncsOn(private val dispatcher: CoroutineDispatcher) : Way {
    override fun run(list: List<Int>, action: (Int) -> Any) = runBlocking {
        list.map { async { withContext(dispatcher) { action(it) } } }.forEach { it.await() }
    }
}
