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
 * Runs each call site where it is quickest, by what it measured there: on the calling thread, on one worker a
 * processor, or on as many threads as pay (virtual ones from JDK 24 on).
 *
 * Batches are its strength: [runAll] returns when every item has run, and the caller's thread takes part. As a plain
 * `ExecutorService` it never runs a task on the caller's thread: a task that waits for a later one would hang it.
 *
 * Safe for use from any thread. Its threads are daemons and end by themselves when they have nothing to do. To
 * construct one takes some 3 ms: it measures what waking and starting threads costs.
 *
 * @param processors threads that may run at the same time; by default what the JVM was given, a container's limit
 *   included
 * @param elasticMax the most threads for work that blocks
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
     * The site of this name, made on first use. `options` count then, and are not looked at again. Allocates only then.
     */
    @JvmOverloads
    public fun site(name: String, options: SiteOptions = SiteOptions()): Site =
        sites[name] ?: sites.computeIfAbsent(name) { Site(it, options) }

    /**
     * Runs `action` for every item and returns when all have run. Blocks; the calling thread takes part. Items begin in
     * order, and may run at the same time unless the site is [SiteOptions.ordered]. Copies the list, not its items,
     * where it is short or has no quick access by index; it must not change meanwhile.
     *
     * The first exception of an item ends the batch: nothing more is begun, those that run end, and it is thrown here,
     * the same object, with what other items threw meanwhile as suppressed. An interrupt of the caller does the same,
     * and interrupts the items that run on other threads.
     *
     * While it waits the thread runs items of this batch and of no other, so that it may hold locks; an item that needs
     * such a lock hangs, as it does in any executor.
     *
     * @throws InterruptedException if the calling thread was interrupted before all items had begun
     * @throws java.util.concurrent.RejectedExecutionException after a shutdown
     * @throws java.util.concurrent.CancellationException if `shutdownNow` ended the batch
     * @throws IllegalStateException on a registered event thread, which nothing may hold: use [runAllAsync]
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

    /** As the other [runAll], for the numbers from 0 until `count`: without a list. */
    @Throws(InterruptedException::class)
    public fun runAll(site: Site, count: Int, action: IntConsumer) {
        require(count >= 0) { "count must not be negative: count=$count" }
        checkMayBlock(count)
        runner.run(site, count, CountBody(action))
    }

    /**
     * As [runAll], and returns at once: the future ends when nothing of the batch runs any more. No item ever runs on
     * the calling thread, however short it was until now: it may wait this time, and the caller must not. `cancel` of
     * the future ends the batch, with interrupts; the future is done when the items that run have ended.
     */
    public fun <T> runAllAsync(site: Site, items: List<T>, action: Consumer<in T>): CompletableFuture<Void?> {
        val list = indexed(items)
        val future = BatchFuture()
        runner.start(site, list.size, future, events, ListBody(list, action))
        return future
    }

    /**
     * Nothing may hold this thread: a toolkit's event thread, an event loop. It is refused what waits ([runAll]), and
     * starts no threads itself, which would hold it until the system has run them: a worker does. Blocks for some ms
     * the first time: what a first batch loads is loaded here, and not under that thread's first call.
     */
    public fun registerEventThread(thread: Thread) {
        if (!isShutdown) repeat(FIRST) { runAllAsync(first, listOf(it)) {}.join() }
        events.register(thread)
    }

    /** This executor as a plain one whose tasks are all of one site; in order where the site is. Shut down apart. */
    public fun asExecutorService(site: Site): ExecutorService = SiteExecutor(site, singles)

    /** Runs `task` on another thread, as a site named by its class. */
    override fun execute(task: Runnable) {
        val subject = (task as? SiteTask<*>)?.subject ?: task
        // By its name, and not by a ClassValue: that hangs on the class, and would keep ours where theirs lives longer.
        singles.execute(site(subject.javaClass.name), task)
    }

    override fun <T> newTaskFor(runnable: Runnable, value: T): RunnableFuture<T> =
        SiteTask({ runnable.run().let { value } }, runnable)

    override fun <T> newTaskFor(callable: Callable<T>): RunnableFuture<T> = SiteTask(callable, callable)

    /**
     * Takes no more work; what it took runs to its end, with the batches that items start in turn. Tasks are refused,
     * also to tasks that run: a coroutine that loops on `yield` is cancelled.
     */
    override fun shutdown(): Unit = runner.shutdown()

    /**
     * Takes no more work, interrupts what runs, ends batches with a `CancellationException`, returns tasks not begun.
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

    /** [shutdown], and waits until all is done; an interrupt meanwhile makes it [shutdownNow]. Not from an item. */
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
     * An array's length never changes: its items are reached with one load less than a list's, 4 % of a trivial batch.
     */
    @Suppress(
        "UNCHECKED_CAST",
        "PLATFORM_CLASS_MAPPED_TO_KOTLIN",
    ) // Java's own: Kotlin's would ask for an array's type.
    private fun <T> copied(items: List<T>): Array<T> = (items as java.util.Collection<T>).toArray() as Array<T>

    private fun checkMayBlock(count: Int) {
        check(count == 0 || !events.isOne(Thread.currentThread())) {
            "runAll would hold the event thread; use runAllAsync: thread=${Thread.currentThread().name}"
        }
    }

    private companion object {
        /** Past a site's cold batches: unknown, known and planned ones load different parts. */
        const val FIRST = 5
        /** Lists of up to this many items are copied: 16 KB, which is cheap to allocate. */
        const val COPIED_MAX = 4096
        /** Threads that had nothing to do for so long end; to start them again costs some 0.1 ms each. */
        val STAY_NS = TimeUnit.SECONDS.toNanos(20)
        /**
         * Half of a wake on a virtual machine (40 us): who waits awake for so long loses at most half as much again.
         */
        const val SPIN_NS = 20_000L
    }
}
