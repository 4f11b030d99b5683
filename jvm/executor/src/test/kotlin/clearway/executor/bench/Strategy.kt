// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.bench

import clearway.executor.AdaptiveExecutor
import io.reactivex.rxjava3.core.Completable
import io.reactivex.rxjava3.core.Flowable
import io.reactivex.rxjava3.core.Scheduler
import io.reactivex.rxjava3.schedulers.Schedulers
import java.util.concurrent.Callable
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import java.util.concurrent.locks.LockSupport
import kotlin.math.pow
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

/**
 * A strategy that runs a batch of actions and returns when all have run. It is created once, kept warm, and closed at
 * the end.
 */
internal abstract class Strategy(val name: String) : AutoCloseable {
    abstract fun run(seeds: List<Int>, action: Action)

    override fun close() {}
}

internal class Direct(name: String = "direct") : Strategy(name) {
    override fun run(seeds: List<Int>, action: Action) {
        for (seed in seeds) action.run(seed)
    }
}

/** Submits one task per action, all with one `invokeAll`, as the documentation of ExecutorService shows. */
internal class Pool(name: String, private val pool: ExecutorService) : Strategy(name) {
    override fun run(seeds: List<Int>, action: Action) {
        val tasks = ArrayList<Callable<Unit>>(seeds.size)
        for (seed in seeds) tasks += Callable { action.run(seed) }
        for (done in pool.invokeAll(tasks)) done.get()
    }

    override fun close(): Unit = pool.shutdown()
}

/** A hand-written strategy: one task per processor, each with a part of the list. */
internal class Chunked(private val threads: Int) : Strategy("fixed pool, a part each") {
    private val pool = Executors.newFixedThreadPool(threads)

    override fun run(seeds: List<Int>, action: Action) {
        val size = (seeds.size + threads - 1) / threads
        val tasks = ArrayList<Callable<Unit>>(threads)
        for (from in seeds.indices step size) {
            val part = seeds.subList(from, minOf(from + size, seeds.size))
            tasks += Callable { for (seed in part) action.run(seed) }
        }
        for (done in pool.invokeAll(tasks)) done.get()
    }

    override fun close(): Unit = pool.shutdown()
}

internal class Adaptive(private val executor: AdaptiveExecutor, site: String) : Strategy("Clearway adaptive") {
    private val site = executor.site(site)

    override fun run(seeds: List<Int>, action: Action): Unit = executor.runAll(site, seeds) { action.run(it) }
}

/** Splits each batch by the kinds of its items. Each kind has its own site, so its times are learnt apart. */
internal class ByKind(private val executor: AdaptiveExecutor, private val kindOf: (Int) -> String) :
    Strategy("Clearway, a site for each kind") {
    override fun run(seeds: List<Int>, action: Action) {
        val parts = seeds.groupBy(kindOf)
        val ends = parts.map { (kind, part) -> executor.runAllAsync(executor.site(kind), part) { action.run(it) } }
        for (end in ends) end.join()
    }
}

/** Returns all strategies that do not depend on the workload. Omits strategies that this JDK does not have. */
internal fun fixedStrategies(processors: Int): List<Strategy> =
    listOf(
        Direct(),
        Pool("fixed pool, $processors", Executors.newFixedThreadPool(processors)),
        Chunked(processors),
        Pool("work stealing, $processors", Executors.newWorkStealingPool(processors)),
        Pool("fixed pool, 100", Executors.newFixedThreadPool(100)),
        Pool("work stealing, 100", Executors.newWorkStealingPool(100)),
    ) + listOfNotNull(virtualThreads()?.let { Pool("virtual threads", it) }) + frameworks()

/**
 * Returns an executor of virtual threads, or null before JDK 21. Looks the method up by name, because JDK 17, which
 * compiles this code, does not have it.
 */
private fun virtualThreads(): ExecutorService? =
    if (Runtime.version().feature() < 21) null
    else Executors::class.java.getMethod("newVirtualThreadPerTaskExecutor").invoke(null) as ExecutorService

/** Runs one coroutine per action, on one of the library's dispatchers. */
internal class Coroutines(name: String, private val on: CoroutineDispatcher) : Strategy(name) {
    override fun run(seeds: List<Int>, action: Action): Unit = runBlocking {
        for (seed in seeds) launch(on) { action.run(seed) }
    }
}

/** Runs `flatMap` with one subscription per action. RxJava's documentation recommends this for parallel work. */
internal class Rx(name: String, private val on: Scheduler) : Strategy(name) {
    override fun run(seeds: List<Int>, action: Action): Unit =
        Flowable.fromIterable(seeds)
            .flatMapCompletable({ Completable.fromAction { action.run(it) }.subscribeOn(on) }, false, Int.MAX_VALUE)
            .blockingAwait()
}

internal fun frameworks(): List<Strategy> =
    listOf(
        Coroutines("coroutines Default", Dispatchers.Default),
        Coroutines("coroutines IO", Dispatchers.IO),
        Rx("RxJava computation", Schedulers.computation()),
        Rx("RxJava io", Schedulers.io()),
    )

/**
 * One action of a batch. It gets a seed from 0 to 99. It uses its result, so that the compiler does not remove the
 * computation.
 */
internal fun interface Action {
    fun run(seed: Int)
}

/**
 * Consumes results. Compares each result with a value that it never has. So the result must be computed, and nothing is
 * written.
 */
internal object Sink {
    @JvmField var never: Any? = null

    fun take(value: Double) {
        if (value == -1.5) never = value
    }

    fun take(value: Any) {
        if (value === never) never = Any()
    }
}

/**
 * The workloads of the family *offload*, with the orders of their seeds in the lab. `kindOf` names the kind of an item,
 * if a batch has items of several.
 */
internal enum class Work(
    val action: Action,
    val kindOf: ((Int) -> String)? = null,
    private val order: (List<Int>) -> List<Int> = { it },
) {
    ARITHMETIC({ arithmetic(it) }),
    LISTS({ lists(it) }),
    STORAGE({ storage(it) }),
    NETWORK({ network(it) }),
    MIXED({ mixed(it) }, ::mixedKind),
    /** The mixed workload in an order without a pattern. */
    SHUFFLED({ mixed(it) }, ::mixedKind, { shuffled(it) }),
    /** The mixed workload with its longest items last: the worst case for a queue with few threads. */
    ASCENDING({ mixed(it) }, ::mixedKind, { seeds -> seeds.sortedBy { wait(it) } }),
    /** A bimodal site: nine of ten items are trivial, and one blocks for 5 ms. */
    BIMODAL(
        { if (it % 10 == 0) park(5_000_000) else arithmetic(it) },
        { if (it % 10 == 0) "bimodal wait" else "bimodal arithmetic" },
    );

    val seeds: List<Int> = ArrayList(order((0 until 100).toList()))
}

internal fun arithmetic(seed: Int): Unit = Sink.take(seed.toDouble().pow(seed))

internal fun lists(seed: Int): Unit =
    Sink.take(
        (0 until seed)
            .map { it.toDouble() }
            .map { it + 0.3 }
            .associateBy { it.toString() }
            .mapValues { it.value * it.value }
            .filterValues { it > 5 }
    )

internal fun storage(seed: Int): Unit = park(500_000L + 10_000L * seed)

internal fun network(seed: Int): Unit = Thread.sleep(seed.toLong())

private fun mixedKind(seed: Int): String =
    when {
        seed % 5 == 0 -> "mixed network"
        seed % 3 == 0 -> "mixed storage"
        seed % 2 == 0 -> "mixed lists"
        else -> "mixed arithmetic"
    }

internal fun mixed(seed: Int): Unit =
    when {
        seed % 5 == 0 -> network(seed)
        seed % 3 == 0 -> storage(seed)
        seed % 2 == 0 -> lists(seed)
        else -> arithmetic(seed)
    }

/** Shuffles by Fisher-Yates without random numbers. The lab uses this order in every language. */
private fun shuffled(seeds: List<Int>): List<Int> {
    val order = ArrayList(seeds)
    for (i in order.size - 1 downTo 1) {
        val j = (i * 7919 + 17) % (i + 1)
        order[i] = order.set(j, order[i])
    }
    return order
}

/** Returns a number that orders the seeds of the mixed workload by their duration. */
private fun wait(seed: Int): Int =
    when {
        seed % 5 == 0 -> 1_000_000 + seed
        seed % 3 == 0 -> 10_000 + seed
        seed % 2 == 0 -> 1_000 + seed
        else -> seed
    }

/**
 * Waits for `ns`, even if it is woken early. Pools leave permits behind, and a permit would end a single park at once.
 */
private fun park(ns: Long) {
    val until = System.nanoTime() + ns
    while (true) {
        val left = until - System.nanoTime()
        if (left <= 0) return
        LockSupport.parkNanos(left)
    }
}
