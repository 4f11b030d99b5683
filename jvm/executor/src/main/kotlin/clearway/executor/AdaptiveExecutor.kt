// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import clearway.executor.host.Carriers
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
import clearway.executor.run.MapBody
import clearway.executor.run.Runner
import clearway.executor.run.SettleBody
import clearway.executor.run.Singles
import clearway.executor.run.VirtualJobs
import clearway.executor.run.Workers
import java.util.Collections
import java.util.RandomAccess
import java.util.concurrent.AbstractExecutorService
import java.util.concurrent.Callable
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ExecutorService
import java.util.concurrent.RunnableFuture
import java.util.concurrent.TimeUnit
import java.util.function.Consumer
import java.util.function.Function
import java.util.function.IntConsumer

/**
 * An executor that measures each call site and runs its work where it is fastest. That is the calling thread, the CPU
 * workers (at most one per processor), or a larger number of threads for work that blocks. From JDK 24 on, these
 * additional threads are virtual threads.
 *
 * The executor is made for batches. A batch is the items of one [runAll] call. [runAll] also uses the calling thread,
 * and returns when every item has run. As a plain `ExecutorService`, the executor never runs a task on the calling
 * thread, because a task that waits for a later task would deadlock.
 *
 * Thread-safe. Its threads are daemons. Idle workers end after 20 seconds. The constructor takes about 3 ms, because it
 * measures the cost of waking and starting threads.
 *
 * @param processors maximum number of CPU workers, and the number of processors that the executor assumes. Default: the
 *   JVM's processors, limited by the container's quota
 * @param elasticMax maximum number of threads for work that blocks. From JDK 24 on, it limits each batch, but not the
 *   single tasks
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
    private val sites = Sites()

    init {
        require(processors >= 1) { "processors must be positive: processors=$processors" }
        require(elasticMax >= 1) { "elasticMax must be positive: elasticMax=$elasticMax" }
        val workers = Workers("clearway-cpu", processors, STAY_NS, if (processors > 1) SPIN_NS else 0)
        val elastic =
            VirtualThreads.factory("clearway-elastic")?.let { VirtualJobs(it, Carriers.ofProcess, elasticMax) }
                ?: Workers("clearway-elastic", elasticMax, STAY_NS, spinNs = 0)
        val costs = LiveCosts(Costs(processors, elasticMax = elasticMax), clock)
        costs.calibrate(workers, elastic)
        runner = Runner(workers, elastic, costs, clock)
        singles = Singles(runner, clock)
    }

    /**
     * Returns the site of this name, whichever options it has. The first call creates it, with default options.
     * Allocates only on the first call. The executor keeps named sites until it is collected.
     *
     * @throws TooManySitesException if there are 4,096 named sites and none has this name
     */
    public fun site(name: String): Site = sites.named(name)

    /**
     * Returns the site of this name, with these options. The first call creates it. Otherwise it works as the other
     * [site] does.
     *
     * @throws SiteMismatchException if the site exists with other options
     * @throws TooManySitesException if there are 4,096 named sites and none has this name
     */
    public fun site(name: String, options: SiteOptions): Site = sites.named(name, options)

    /**
     * Runs `action` for every item and returns when all have run. Blocks; the calling thread takes part. Items start in
     * order. They may run at the same time unless the site is [SiteOptions.ordered]. Copies a list of up to 4,096
     * items, and a list without fast access by index; does not copy the items. The list must not change before this
     * function returns.
     *
     * The first exception of an item ends the batch. No further item starts, and the running items finish. This
     * function then throws that exception object. Exceptions that other items threw meanwhile are added to it as
     * suppressed. An interrupt of the calling thread also ends the batch, and interrupts the items on other threads.
     *
     * While the calling thread waits, it runs only items of this batch, so it may hold locks. An item on another thread
     * that needs such a lock deadlocks, as with any executor.
     *
     * @throws InterruptedException if the calling thread was interrupted before the call or while the batch ran. A
     *   batch of trivial items may complete instead; the thread's interrupt status then stays set
     * @throws java.util.concurrent.RejectedExecutionException after a shutdown, except inside work that was accepted
     *   before
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

    /**
     * Runs `action` for the numbers from 0 until `count`, without a list. Otherwise it works as the other [runAll]
     * does.
     */
    @Throws(InterruptedException::class)
    public fun runAll(site: Site, count: Int, action: IntConsumer) {
        require(count >= 0) { "count must not be negative: count=$count" }
        checkMayBlock(count)
        runner.run(site, count, CountBody(action))
    }

    /**
     * Starts a batch and returns without waiting for it. The future completes when no item of the batch runs any more.
     *
     * No item runs on the calling thread, even if items were short so far: an item could wait this time, and the caller
     * must not wait. A list with fast access by index is not copied, and must not change before the future completes.
     *
     * `cancel` of the future ends the batch and interrupts its items. The future completes when the running items have
     * ended. The rules of [runAll] for order, exceptions and shutdown apply here, too.
     */
    public fun <T> runAllAsync(site: Site, items: List<T>, action: Consumer<in T>): CompletableFuture<Void?> {
        val list = indexed(items)
        val future = BatchFuture<Void?>(null)
        runner.start(site, list.size, future, events, ListBody(list, action))
        return future
    }

    /**
     * Calls `function` for every item and returns the results, in the order of the items. The calls are one batch: the
     * rules of [runAll] for threads, order, exceptions, interrupts and nested batches apply here, too. So the first
     * exception of `function` is thrown, and the results of other items are dropped. A result may be null.
     *
     * The list of results is new and cannot be changed. Allocates one reference per item, and no task or future per
     * item. Copies a list without fast access by index; does not copy the items. The list of items must not change
     * before this function returns.
     *
     * @throws InterruptedException if the calling thread was interrupted before the call or while the batch ran. A
     *   batch of trivial items may complete instead; the thread's interrupt status then stays set
     * @throws java.util.concurrent.RejectedExecutionException after a shutdown, except inside work that was accepted
     *   before, and for an empty list
     * @throws java.util.concurrent.CancellationException if `shutdownNow` ended the batch
     * @throws IllegalStateException on a registered event thread, which must not block: use [mapAllAsync]
     */
    @Throws(InterruptedException::class)
    public fun <T, R> mapAll(site: Site, items: List<T>, function: Function<in T, out R>): List<R> {
        checkMayBlock(items.size)
        val list = indexed(items)
        val results = arrayOfNulls<Any?>(list.size)
        runner.run(site, results.size, MapBody(list, function, results))
        return fixed(results)
    }

    /**
     * Starts the batch of [mapAll] and returns without waiting for it. The future's value is the list of results.
     * Otherwise it works as [runAllAsync] does: no item runs on the calling thread, `cancel` ends the batch, and the
     * future completes when no item of the batch runs any more.
     */
    public fun <T, R> mapAllAsync(
        site: Site,
        items: List<T>,
        function: Function<in T, out R>,
    ): CompletableFuture<List<R>> {
        val list = indexed(items)
        val results = arrayOfNulls<Any?>(list.size)
        val future = BatchFuture<List<R>>(fixed(results))
        runner.start(site, results.size, future, events, MapBody(list, function, results))
        return future
    }

    /**
     * Calls `function` for every item and returns how each item ended, in the order of the items. A failure of an item
     * ends neither the batch nor this call. Otherwise it works as [mapAll] does. Allocates one [ItemResult] per item.
     *
     * @throws InterruptedException as [mapAll] does
     * @throws java.util.concurrent.RejectedExecutionException as [mapAll] does
     * @throws java.util.concurrent.CancellationException if `shutdownNow` ended the batch
     * @throws IllegalStateException on a registered event thread, which must not block: use [settleAllAsync]
     */
    @Throws(InterruptedException::class)
    public fun <T, R> settleAll(site: Site, items: List<T>, function: Function<in T, out R>): List<ItemResult<R>> {
        checkMayBlock(items.size)
        val list = indexed(items)
        val results = arrayOfNulls<Any?>(list.size)
        runner.run(site, results.size, SettleBody(list, function, results, Thread.currentThread()))
        return fixed(results)
    }

    /**
     * Starts the batch of [settleAll] and returns without waiting for it. Otherwise it works as [mapAllAsync] does. The
     * future fails only if the batch is cancelled or the executor shut down.
     */
    public fun <T, R> settleAllAsync(
        site: Site,
        items: List<T>,
        function: Function<in T, out R>,
    ): CompletableFuture<List<ItemResult<R>>> {
        val list = indexed(items)
        val results = arrayOfNulls<Any?>(list.size)
        val future = BatchFuture<List<ItemResult<R>>>(fixed(results))
        runner.start(site, results.size, future, events, SettleBody(list, function, results, null))
        return future
    }

    /**
     * Calls `function` for items that come one by one, and returns a stream of the results. The thread that reads the
     * stream pulls the items, and only a window of them is in work at a time ([EachOptions]). Close the stream.
     *
     * Each item is a task of the site, and costs 1 to 10 us more than an item of a batch. For short items, use [mapAll]
     * on parts of the work. On an ordered site, one item runs at a time.
     */
    @JvmOverloads
    public fun <T, R> settleEach(
        site: Site,
        items: Iterable<T>,
        options: EachOptions = EachOptions(),
        function: Function<in T, out R>,
    ): ResultStream<T, R> = ResultStream(site, items, function, options, singles) { checkMayBlock(1) }

    /**
     * Runs one task of the site on another thread. The future completes when the task does not run any more. `cancel`
     * of the future drops a task that has not begun, and `cancel(true)` interrupts a running one. On an ordered site,
     * the next task may begin before the future completes, so a dependent stage may wait for that task.
     *
     * @throws java.util.concurrent.RejectedExecutionException after a shutdown. A later `shutdownNow` cancels the
     *   future of a task that has not begun, and also returns the task
     */
    public fun <R> callAsync(site: Site, task: Callable<out R>): CompletableFuture<R> =
        singles.call(site) { task.call() }

    /**
     * Registers a thread that must not be blocked: a toolkit's event thread, or an event loop. The executor refuses
     * blocking calls ([runAll]) on it. A thread start also blocks, until the system has run the new thread. So a batch
     * of an event thread wakes or starts one worker, and that worker starts the other threads.
     *
     * Runs a few empty batches before it returns, so that their classes are loaded before the event thread needs them.
     * On the first call, this takes some ms.
     */
    public fun registerEventThread(thread: Thread) {
        if (!isShutdown) repeat(FIRST) { runAllAsync(first, listOf(it)) {}.join() }
        events.register(thread)
    }

    /**
     * Returns an `ExecutorService` whose tasks all belong to `site`. They run in order if the site is
     * [SiteOptions.ordered]. Its shutdown does not shut this executor down.
     */
    public fun asExecutorService(site: Site): ExecutorService = SiteExecutor(site, singles)

    /**
     * Runs `task` on another thread. The task belongs to the site that has the name of the task's class. If that is a
     * class of the JDK, as with `CompletableFuture.supplyAsync(…, executor)`, the site is named after the code that
     * calls the JDK: its class, method and line. A stage that depends on a task of this executor is named after that
     * task.
     *
     * The executor keeps at most 1,024 such sites. It drops the ones that were not used recently, so that generated
     * classes cannot fill the memory. A dropped site learns anew.
     */
    override fun execute(task: Runnable) {
        val submitted = (task as? SiteTask<*>)?.task ?: task
        // Finds the site by name. A ClassValue would be stored in the task's class, and would keep this executor's
        // classes loaded for as long as that class.
        singles.execute(sites.of(submitted, runner.registry.lane().task), task)
    }

    override fun <T> newTaskFor(runnable: Runnable, value: T): RunnableFuture<T> =
        SiteTask({ runnable.run().let { value } }, runnable)

    override fun <T> newTaskFor(callable: Callable<T>): RunnableFuture<T> = SiteTask(callable, callable)

    /**
     * Refuses new work. Accepted work runs to its end, including batches that its items start. New tasks are refused
     * even from running tasks, so a coroutine that loops on `yield` is cancelled.
     */
    override fun shutdown(): Unit = runner.shutdown()

    /**
     * Refuses new work, interrupts running work, ends batches with a `CancellationException`, and returns the tasks
     * that have not started. Those of an ordered site are in the order of submission.
     */
    override fun shutdownNow(): MutableList<Runnable> {
        runner.shutdown()
        val dropped = singles.stop()
        runner.stop()
        return Singles.settled(dropped)
    }

    override fun isShutdown(): Boolean = runner.lifecycle.isShut

    override fun isTerminated(): Boolean = runner.lifecycle.isOver

    override fun awaitTermination(timeout: Long, unit: TimeUnit): Boolean = runner.lifecycle.await(timeout, unit)

    /**
     * Calls [shutdown] and waits until all work has ended. An interrupt during the wait calls [shutdownNow]. Do not
     * call it from an item: it would wait for that item.
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

    /** Returns the executor's present numbers, for metrics. Takes some us; blocks no work. */
    public fun status(): ExecutorStatus {
        val workers = runner.workers as Workers
        return singles.counts.status(workers.size, workers.max, runner.registry.running().size, sites.size)
    }

    internal val live: LiveCosts
        get() = runner.costs

    internal val known: Collection<Site>
        get() = sites.all

    /** Returns a list over the array, without a copy. The list cannot be changed. */
    @Suppress("UNCHECKED_CAST") // Only results of type R are stored in the array.
    private fun <R> fixed(results: Array<Any?>): List<R> = Collections.unmodifiableList(results.asList()) as List<R>

    private fun <T> indexed(items: List<T>): List<T> = if (items is RandomAccess) items else ArrayList(items)

    /**
     * Copies a list to an array. An array's length never changes, so reading an item takes one load less than reading
     * it from a list. That saves 4 % of a trivial batch.
     */
    @Suppress(
        "UNCHECKED_CAST",
        "PLATFORM_CLASS_MAPPED_TO_KOTLIN",
    ) // Java's `toArray`: Kotlin's would need the array's type.
    private fun <T> copied(items: List<T>): Array<T> = (items as java.util.Collection<T>).toArray() as Array<T>

    private fun checkMayBlock(count: Int) {
        check(count == 0 || !events.isOne(Thread.currentThread())) {
            "a batch would block the event thread; use runAllAsync or mapAllAsync: thread=${Thread.currentThread().name}"
        }
    }

    private companion object {
        /**
         * Number of batches that [registerEventThread] runs to load classes. It is more than the number of a site's
         * cold batches (the first ones), because unknown, known and planned batches load different classes.
         */
        const val FIRST = 5
        /**
         * Maximum size of a list that is copied. Its array takes 16 KB, and a thread's allocation buffer usually has
         * that much free.
         */
        const val COPIED_MAX = 4096
        /** Time in ns after which an idle thread ends. Starting a thread again costs about 0.1 ms. */
        val STAY_NS = TimeUnit.SECONDS.toNanos(20)
        /**
         * Maximum time in ns that an idle CPU worker spins. It is half of a wake on a virtual machine (40 us), so a
         * useless spin loses at most half a wake.
         */
        const val SPIN_NS = 20_000L
    }
}
