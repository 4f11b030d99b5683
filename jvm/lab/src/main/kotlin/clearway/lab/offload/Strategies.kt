// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

import clearway.executor.AdaptiveExecutor
import io.reactivex.rxjava3.core.Flowable
import io.reactivex.rxjava3.core.Scheduler
import io.reactivex.rxjava3.schedulers.Schedulers
import java.lang.invoke.MethodHandles
import java.lang.invoke.MethodType
import java.util.concurrent.Callable
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
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

/** Runs batches on Clearway's executor, with default options and one site. */
internal class Adaptive : Strategy {
    private val executor = AdaptiveExecutor()
    private val site = executor.site("lab")

    override fun batch(seeds: IntArray, action: Action, results: DoubleArray) {
        executor.runAll(site, seeds.size) { results[it] = action.run(seeds[it]) }
    }

    override fun close() = executor.close()
}

private val processors = Runtime.getRuntime().availableProcessors()

/** Number of threads that gives each action of a batch its own thread. */
internal const val MANY = 100

/** Strategies of the JDK's executors. They use `invokeAll`, which is designed for batches. */
internal val executorStrategies: List<StrategyKind> =
    listOf(
        StrategyKind("fixed-pool-invokeall") { Invoking(Executors.newFixedThreadPool(processors)) },
        StrategyKind("work-stealing-invokeall") { Invoking(Executors.newWorkStealingPool()) },
        StrategyKind("fixed-100-invokeall") { Invoking(Executors.newFixedThreadPool(MANY)) },
        StrategyKind("work-stealing-100-invokeall") { Invoking(Executors.newWorkStealingPool(MANY)) },
        StrategyKind("virtual-threads", VirtualThreads.unavailable) { Invoking(VirtualThreads.executor()) },
    )

private class Invoking(private val executor: ExecutorService) : Strategy {
    override fun batch(seeds: IntArray, action: Action, results: DoubleArray) {
        val calls = List(seeds.size) { at -> Callable { results[at] = action.run(seeds[at]) } }
        for (done in executor.invokeAll(calls)) done.get()
    }

    override fun close() {
        executor.shutdown()
        executor.awaitTermination(10, TimeUnit.SECONDS)
    }
}

/** Gives access to virtual threads through method handles, so that JDK 17 can compile it. */
internal object VirtualThreads {
    private const val SINCE = 21

    val unavailable: String? =
        if (Runtime.version().feature() >= SINCE) null
        else "virtual threads need a JDK $SINCE or newer: add one, or leave out --jdk ${Runtime.version().feature()}"

    /**
     * Returns an executor that starts a virtual thread per task. Throws UnsupportedOperationException before JDK 21.
     */
    fun executor(): ExecutorService {
        if (unavailable != null) throw UnsupportedOperationException(unavailable)
        val type = MethodType.methodType(ExecutorService::class.java)
        val make =
            MethodHandles.publicLookup().findStatic(Executors::class.java, "newVirtualThreadPerTaskExecutor", type)
        return make.invoke() as ExecutorService
    }

    /** Starts `task` on a virtual thread. Throws UnsupportedOperationException before JDK 21. */
    fun start(task: Runnable): Thread {
        if (unavailable != null) throw UnsupportedOperationException(unavailable)
        val type = MethodType.methodType(Thread::class.java, Runnable::class.java)
        return MethodHandles.publicLookup().findStatic(Thread::class.java, "startVirtualThread", type).invoke(task)
            as Thread
    }
}

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

/** Strategies of RxJava 3. They use each scheduler with the operator that RxJava's documentation combines it with. */
internal val rxStrategies: List<StrategyKind> =
    listOf(
        StrategyKind("rxjava-flowable-single") { OneThread() },
        StrategyKind("rxjava-parallel-computation") { Rails() },
        StrategyKind("rxjava-flatmap-io") { FlatMapped(Schedulers.io()) },
    )

/** Restarts RxJava's standard schedulers, because they are global to the JVM. `close` ends them. */
private abstract class Scheduled : Strategy {
    init {
        Schedulers.shutdown()
        Schedulers.start()
    }

    override fun close() = Schedulers.shutdown()
}

/** Runs the whole sequence on the one thread of `Schedulers.single()`. */
private class OneThread : Scheduled() {
    override fun batch(seeds: IntArray, action: Action, results: DoubleArray) =
        Flowable.range(0, seeds.size)
            .subscribeOn(Schedulers.single())
            .map { at -> action.run(seeds[at]).also { results[at] = it } }
            .ignoreElements()
            .blockingAwait()
}

/** Runs one rail of `parallel()` per processor, each on a thread of `Schedulers.computation()`. */
private class Rails : Scheduled() {
    override fun batch(seeds: IntArray, action: Action, results: DoubleArray) =
        Flowable.range(0, seeds.size)
            .parallel()
            .runOn(Schedulers.computation())
            .map { at -> action.run(seeds[at]).also { results[at] = it } }
            .sequential()
            .ignoreElements()
            .blockingAwait()
}

/**
 * Runs one source per action, each on a thread of `scheduler`. At most 128 run at a time, which is flatMap's default
 * limit.
 */
private class FlatMapped(private val scheduler: Scheduler) : Scheduled() {
    override fun batch(seeds: IntArray, action: Action, results: DoubleArray) =
        Flowable.range(0, seeds.size)
            .flatMap { at ->
                Flowable.fromCallable { action.run(seeds[at]).also { results[at] = it } }.subscribeOn(scheduler)
            }
            .ignoreElements()
            .blockingAwait()
}
