// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.published

import clearway.lab.offload.Action
import clearway.lab.offload.MANY
import clearway.lab.offload.Strategies
import clearway.lab.offload.Strategy
import clearway.lab.offload.StrategyKind
import io.reactivex.rxjava3.core.Completable
import io.reactivex.rxjava3.core.Scheduler
import io.reactivex.rxjava3.schedulers.Schedulers
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.flowOn
import kotlinx.coroutines.flow.merge
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext

/**
 * A way to run the actions of a list: one row of the published experiment "Which executor". Owns its pool, which exists
 * before the first list; `close` ends it. One thread uses a way, for one list at a time.
 */
internal interface Way : AutoCloseable {
    /** Runs `action` for every item and returns when all have run. Blocks. Throws if an action threw. */
    fun run(list: List<Int>, action: (Int) -> Any)

    override fun close() {}
}

/**
 * A way, by its name in the scenario file.
 *
 * @param isPublished whether the way follows the published code to the letter. The other ways are this lab's.
 * @param unavailable why the way cannot run here and how to make it run.
 */
internal class WayKind(val name: String, val isPublished: Boolean, val unavailable: String? = null, val open: () -> Way)

/** Returns a way that opens this one for each list, runs the list, and closes it: what a new executor costs. */
internal fun WayKind.opened(): WayKind =
    WayKind(name, isPublished, unavailable) {
        object : Way {
            override fun run(list: List<Int>, action: (Int) -> Any) = open().use { it.run(list, action) }
        }
    }

internal object Ways {
    /** The sixteen published ways, and then the lab's own. */
    val all: List<WayKind> = directWay + rxWays + coroutineWays + flowWays + executorWays + ownWays

    fun named(name: String): WayKind =
        requireNotNull(all.find { it.name == name }) { "no such way: $name (${all.joinToString { it.name }})" }
}

/** Makes a way that follows the published code. */
internal fun published(name: String, open: () -> Way): WayKind = WayKind(name, isPublished = true, open = open)

private val directWay = listOf(published("direct") { Direct() })

private class Direct : Way {
    override fun run(list: List<Int>, action: (Int) -> Any) {
        list.forEach { action(it) }
    }
}

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

/** The number of processors of this JVM: the "cores" of the published text. */
internal val PROCESSORS: Int = Runtime.getRuntime().availableProcessors()

/** The published ways of the JDK's executors: `submit` each action, `get` each future. */
internal val executorWays: List<WayKind> =
    listOf(
        published("fixed-pool") { Submitting(Executors.newFixedThreadPool(PROCESSORS)) },
        published("work-stealing") { Submitting(Executors.newWorkStealingPool(PROCESSORS)) },
        published("fixed-100") { Submitting(Executors.newFixedThreadPool(MANY)) },
        published("work-stealing-100") { Submitting(Executors.newWorkStealingPool(MANY)) },
    )

/** Owns the executor. `close` waits up to ten seconds for its threads. */
internal class Submitting(internal val executor: ExecutorService) : Way {
    override fun run(list: List<Int>, action: (Int) -> Any) {
        list.map { executor.submit { action(it) } }.forEach { it.get() }
    }

    override fun close() {
        executor.shutdown()
        executor.awaitTermination(10, TimeUnit.SECONDS)
    }
}

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

/** The published ways of RxJava: one Completable per action, subscribed on a scheduler, and all of them merged. */
internal val rxWays: List<WayKind> =
    listOf(
        published("rxjava-single") { Completables { Schedulers.single() } },
        published("rxjava-computation") { Completables { Schedulers.computation() } },
        published("rxjava-io") { Completables { Schedulers.io() } },
    )

/** Restarts RxJava's standard schedulers, because they are global to the JVM. `close` ends them. */
private class Completables(scheduler: () -> Scheduler) : Way {
    init {
        Schedulers.shutdown()
        Schedulers.start()
    }

    private val scheduler = scheduler()

    override fun run(list: List<Int>, action: (Int) -> Any) {
        val all = list.map { Completable.fromAction { action(it) }.subscribeOn(scheduler) }
        Completable.merge(all).blockingAwait()
    }

    override fun close() = Schedulers.shutdown()
}
