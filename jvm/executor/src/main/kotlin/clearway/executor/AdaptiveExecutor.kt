// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import clearway.executor.host.Clock
import clearway.executor.host.Processors
import clearway.executor.host.SystemClock
import clearway.executor.host.VirtualThreads
import clearway.executor.model.Costs
import clearway.executor.run.ArrayBody
import clearway.executor.run.BatchFuture
import clearway.executor.run.CountBody
import clearway.executor.run.EventThreads
import clearway.executor.run.ListBody
import clearway.executor.run.LiveCosts
import clearway.executor.run.Runner
import clearway.executor.run.Singles
import clearway.executor.run.VirtualJobs
import clearway.executor.run.Workers
import java.util.RandomAccess
import java.util.concurrent.AbstractExecutorService
import java.util.concurrent.Callable
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.ExecutorService
import java.util.concurrent.RunnableFuture
import java.util.concurrent.TimeUnit
import java.util.function.Consumer
import java.util.function.IntConsumer

/**
 * Runs each call site where it is fastest, by its own measurements: on the calling thread, on one worker per processor,
 * or on as many threads as help (virtual threads from JDK 24 on).
 *
 * Made for batches: [runAll] returns when every item has run, and the caller's thread takes part. As a plain
 * `ExecutorService` it never runs a task on the caller's thread, because a task that waits for a later one would
 * deadlock.
 *
 * Thread-safe. Its threads are daemons and end when they stay idle. The constructor takes about 3 ms, because it
 * measures the cost of waking and starting threads.
 *
 * @param processors number of threads that may run at the same time. Default: the JVM's processors, including a
 *   container's limit
 * @param elasticMax maximum number of threads for work that blocks
 */
public class AdaptiveExecutor internal constructor(processors: Int, elasticMax: Int, clock: Clock) :
    AbstractExecutorService(), AutoCloseable {

    @JvmOverloads
    public constructor(
        processors: Int = Processors.available(),
        elasticMax: Int = 256,
    ) : this(processors, elasticMax, SystemClock)

    private val events = EventThreads()
    private val first = Site("clearway: first batches", SiteOptions())
    private val runner: Runner
    private val singles: Singles
    private val sites = ConcurrentHashMap<String, Site>()

    init {
        require(processors >= 1) { "processors must be positive: processors=$processors" }
        require(elasticMax >= 1) { "elasticMax must be positive: elasticMax=$elasticMax" }
        val workers = Workers("clearway-cpu", processors, STAY_NS, if (processors > 1) SPIN_NS else 0)
        val elastic =
            VirtualThreads.factory("clearway-elastic-")?.let(::VirtualJobs)
                ?: Workers("clearway-elastic", elasticMax, STAY_NS, spinNs = 0)
        val costs = LiveCosts(Costs(processors, elasticMax = elasticMax), clock)
        costs.calibrate(workers, elastic)
        runner = Runner(workers, elastic, costs, clock)
        singles = Singles(runner, clock)
    }

    /**
     * Returns the site of this name. Creates it on the first call, with `options`; later calls ignore `options`.
     * Allocates only on the first call.
     */
    @JvmOverloads
    public fun site(name: String, options: SiteOptions = SiteOptions()): Site =
        sites[name] ?: sites.computeIfAbsent(name) { Site(it, options) }

    /**
     * Runs `action` for every item and returns when all have run. Blocks; the calling thread takes part. Items start in
     * order, and may run at the same time unless the site is [SiteOptions.ordered]. Copies a short list, and a list
     * without fast access by index; does not copy the items. The list must not change meanwhile.
     *
     * The first exception of an item ends the batch: no further item starts, and the running ones finish. The same
     * exception object is then thrown here; exceptions that other items threw meanwhile are suppressed in it. An
     * interrupt of the caller does the same, and interrupts the items on other threads.
     *
     * While the calling thread waits, it runs only items of this batch, so it may hold locks. An item that needs such a
     * lock deadlocks, as in any executor.
     *
     * @throws InterruptedException if the calling thread was interrupted before all items had started
     * @throws java.util.concurrent.RejectedExecutionException after a shutdown
     * @throws java.util.concurrent.CancellationException if `shutdownNow` ended the batch
     * @throws IllegalStateException on a registered event thread, which must not block: use [runAllAsync]
     */
    @Throws(InterruptedException::class)
    public fun <T> runAll(site: Site, items: List<T>, action: Consumer<in T>) {
        checkMayBlock(items.size)
        if (items.size <= COPIED_MAX) {
            val array = copied(items)
            runner.run(site, array.size, ArrayBody(array, action))
        } else {
            val list = indexed(items)
            runner.run(site, list.size, ListBody(list, action))
        }
    }

    /** Runs `action` for the numbers from 0 until `count`, without a list. Otherwise as the other [runAll]. */
    @Throws(InterruptedException::class)
    public fun runAll(site: Site, count: Int, action: IntConsumer) {
        require(count >= 0) { "count must not be negative: count=$count" }
        checkMayBlock(count)
        runner.run(site, count, CountBody(action))
    }

    /**
     * Starts a batch and returns at once. The future completes when no item of the batch runs any more. No item runs on
     * the calling thread, however short items were so far: an item may wait this time, and the caller must not.
     * `cancel` of the future ends the batch and interrupts its items; the future completes when the running items have
     * ended. Otherwise as [runAll].
     */
    public fun <T> runAllAsync(site: Site, items: List<T>, action: Consumer<in T>): CompletableFuture<Void?> {
        val list = indexed(items)
        val future = BatchFuture()
        runner.start(site, list.size, future, events, ListBody(list, action))
        return future
    }

    /**
     * Registers a thread that must not be blocked: a toolkit's event thread, or an event loop. The executor refuses
     * blocking calls from it ([runAll]). It also starts no threads on it, because a start blocks until the system has
     * run the new thread; a worker starts them. Blocks for some ms on the first call, to load the classes of a first
     * batch before the thread's first call needs them.
     */
    public fun registerEventThread(thread: Thread) {
        if (!isShutdown) repeat(FIRST) { runAllAsync(first, listOf(it)) {}.join() }
        events.register(thread)
    }

    /**
     * Returns this executor as a plain one whose tasks all belong to one site; in order if the site is ordered. It has
     * a shutdown of its own.
     */
    public fun asExecutorService(site: Site): ExecutorService = SiteExecutor(site, singles)

    /** Runs `task` on another thread. Its site has the name of the task's class. */
    override fun execute(task: Runnable) {
        val subject = (task as? SiteTask<*>)?.subject ?: task
        // By name, not by a ClassValue. A ClassValue belongs to the task's class, and would keep this executor's
        // classes loaded while that class is.
        singles.execute(site(subject.javaClass.name), task)
    }

    override fun <T> newTaskFor(runnable: Runnable, value: T): RunnableFuture<T> =
        SiteTask({ runnable.run().let { value } }, runnable)

    override fun <T> newTaskFor(callable: Callable<T>): RunnableFuture<T> = SiteTask(callable, callable)

    /**
     * Refuses new work. Accepted work runs to its end, including batches that its items start. Tasks are refused even
     * from running tasks: a coroutine that loops on `yield` is cancelled.
     */
    override fun shutdown(): Unit = runner.shutdown()

    /**
     * Refuses new work, interrupts running work, ends batches with a `CancellationException`, and returns the tasks
     * that have not started.
     */
    override fun shutdownNow(): MutableList<Runnable> {
        runner.shutdown()
        val left = singles.stop()
        runner.stop()
        return left.toMutableList()
    }

    override fun isShutdown(): Boolean = runner.lifecycle.isShut

    override fun isTerminated(): Boolean = runner.lifecycle.isOver

    override fun awaitTermination(timeout: Long, unit: TimeUnit): Boolean = runner.lifecycle.await(timeout, unit)

    /**
     * Calls [shutdown] and waits until all work has ended. An interrupt meanwhile calls [shutdownNow]. Do not call it
     * from an item.
     */
    override fun close() {
        shutdown()
        var interrupted = false
        while (!isTerminated) {
            try {
                awaitTermination(1, TimeUnit.DAYS)
            } catch (_: InterruptedException) {
                interrupted = true
                shutdownNow()
            }
        }
        if (interrupted) Thread.currentThread().interrupt()
    }

    internal val live: LiveCosts
        get() = runner.costs

    internal val known: Collection<Site>
        get() = sites.values

    private fun <T> indexed(items: List<T>): List<T> = if (items is RandomAccess) items else ArrayList(items)

    /**
     * Copies a list to an array. An array's length never changes, so reading an item takes one load less than from a
     * list: 4 % of a trivial batch.
     */
    @Suppress(
        "UNCHECKED_CAST",
        "PLATFORM_CLASS_MAPPED_TO_KOTLIN",
    ) // Java's `toArray`: Kotlin's would need the array's type.
    private fun <T> copied(items: List<T>): Array<T> = (items as java.util.Collection<T>).toArray() as Array<T>

    private fun checkMayBlock(count: Int) {
        check(count == 0 || !events.isOne(Thread.currentThread())) {
            "runAll would hold the event thread; use runAllAsync: thread=${Thread.currentThread().name}"
        }
    }

    private companion object {
        /** More than a site's cold batches: unknown, known and planned batches load different classes. */
        const val FIRST = 5
        /** Maximum size of a list that is copied: 16 KB, which a thread's allocation buffer usually has free. */
        const val COPIED_MAX = 4096
        /** Idle threads end after this time. Starting one again costs about 0.1 ms. */
        val STAY_NS = TimeUnit.SECONDS.toNanos(20)
        /** Half of a wake on a virtual machine (40 us): a thread that spins for this long loses at most half a wake. */
        const val SPIN_NS = 20_000L
    }
}
