// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.Site
import clearway.executor.host.Clock
import clearway.executor.model.Observation
import clearway.executor.model.Placement
import clearway.executor.model.Plan
import clearway.executor.model.isCrowded
import java.util.concurrent.CancellationException
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.locks.LockSupport

/** Runs batches: plans and publishes them, asks helpers, waits, and learns from the results. */
internal class Runner(val workers: Threads, val elastic: Threads, val costs: LiveCosts, private val clock: Clock) {
    val registry = Registry()
    val lifecycle = Lifecycle({ registry.isIdle }) { over() }
    @Volatile private var stopped = false
    private val watchdog =
        Watchdog(registry, clock, costs, ::relieve, { elastic.mayGetStuck }) { batch, threads, onElastic ->
            ask(batch, threads, onElastic)
        }

    init {
        workers.whenAllBusy(watchdog::arm)
        elastic.whenAllBusy(watchdog::arm)
    }

    private fun relieve(): Boolean {
        val jobsWait = workers.relieve(elastic)
        return elastic.unpin() || jobsWait
    }

    /** Stops all threads of this executor, because no work runs or will run. */
    private fun over() {
        watchdog.stop()
        workers.stop()
        elastic.stop()
    }

    /** Runs a batch; the calling thread takes part. Returns when the batch is over, or throws its failure. */
    fun run(site: Site, size: Int, body: Body) {
        if (Thread.interrupted()) throw InterruptedException()
        if (size == 0) return
        val lane = registry.lane()
        val plan = site.plan(size, costs.now)
        if (plan.alone && !lane.isVirtual && site.options.locals.isEmpty() && site.lock == null)
            return runAlone(site, plan, lane, size, body)
        enter(lane)
        try {
            val batch = make(site, plan, size, body, null)
            batch.callerIsHere()
            registry.publish(lane, batch)
            val interrupted =
                try {
                    published(batch)
                    underLock(site.lock, batch)
                } catch (thrown: Throwable) {
                    abandon(batch, thrown)
                    throw thrown
                } finally {
                    registry.withdraw(lane, batch)
                }
            if (batch.plan.timeBatch) learn(site, batch)
            end(batch, interrupted)
        } finally {
            lifecycle.leave()
        }
    }

    /**
     * Runs the caller's share of the items, under the site's lock if the site is ordered. Returns whether the caller
     * was interrupted.
     */
    private fun underLock(lock: SiteLock?, batch: Batch): Boolean {
        val me = Thread.currentThread()
        // A batch that an item starts on its own site runs within the item, and needs no lock.
        if (lock == null || lock.isHeldByCurrentThread) {
            batch.runAsCaller()
            return batch.await()
        }
        val waiter = SiteLock.Waiter { LockSupport.unpark(me) }
        var interrupted = false
        lock.acquire(waiter)
        try {
            while (!waiter.granted && !batch.isOver) {
                LockSupport.park(lock)
                // `cancel` interrupts the threads of the batch. Such an interrupt is not an interrupt of the caller.
                if (Thread.interrupted() && !batch.wasCancelled) {
                    interrupted = true
                    batch.cancel(null)
                }
            }
            waiter.owner = me
            batch.runAsCaller()
            return batch.await() || interrupted
        } finally {
            lock.release(waiter)
        }
    }

    /** Runs a trivial batch with the least overhead: one barrier publishes the batch, and one ends it. */
    private fun runAlone(site: Site, plan: Plan, lane: Registry.Lane, size: Int, body: Body) {
        registry.see(lane)
        val outer = lane.current
        val nested = lane.isNested
        val batch =
            Batch(
                plan,
                size,
                body,
                clock,
                Context(site.options.locals),
                !site.options.ordered,
                registry,
                null,
                alone = true,
            )
        batch.outer = outer
        lane.publish(batch)
        if (lifecycle.isShut && (stopped || !nested)) {
            lane.publish(outer)
            lifecycle.check()
            throw RejectedExecutionException(SHUT)
        }
        val untouched =
            try {
                watchdog.arm()
                val sampled = site.isSampled
                val from = if (sampled) clock.nanoTime() else 0
                batch.runAlone(lane).also { if (sampled) site.sample(clock.nanoTime() - from, plan) }
            } catch (thrown: Throwable) {
                withdrawing(lane, outer) { abandon(batch, thrown) }
                throw thrown
            }
        if (!untouched) completeShared(site, lane, batch, outer)
        if (lifecycle.isShut) lifecycle.check()
    }

    /** Completes an `alone` batch that the watchdog shared because it took long, or that failed or was cancelled. */
    private fun completeShared(site: Site, lane: Registry.Lane, batch: Batch, outer: Batch?) {
        val interrupted = withdrawing(lane, outer) { batch.await() }
        site.forgetPlan()
        end(batch, interrupted)
    }

    /** Calls `act`, which waits for the threads of an `alone` batch, and then withdraws the batch. */
    private inline fun <T> withdrawing(lane: Registry.Lane, outer: Batch?, act: () -> T): T =
        try {
            act()
        } finally {
            lane.publish(outer)
            if (lifecycle.isShut) lifecycle.check()
        }

    /**
     * Ends a batch after an error that is not an item's has ended the caller's part. Otherwise other threads would go
     * on with the items after the call has thrown.
     */
    private fun abandon(batch: Batch, thrown: Throwable) {
        if (batch.abandon(thrown)) Thread.currentThread().interrupt()
    }

    /** Throws the batch's failure, or InterruptedException after an interrupt of the caller. */
    private fun end(batch: Batch, interrupted: Boolean) {
        val failure = batch.failure()
        if (failure != null) {
            if (interrupted) Thread.currentThread().interrupt()
            throw failure
        }
        if (batch.wasCancelled) {
            Thread.interrupted()
            throw InterruptedException("the batch was interrupted")
        }
        if (interrupted) Thread.currentThread().interrupt()
    }

    /**
     * Starts an asynchronous batch. No item runs on the calling thread. An item that never waited before may wait this
     * time, possibly for the caller's next action. On the calling thread, such an item would wait for ever.
     */
    fun start(site: Site, size: Int, future: BatchFuture<*>, events: EventThreads, body: Body) {
        enter(registry.lane())
        if (size == 0) {
            lifecycle.leave()
            future.succeed()
            return
        }
        val lock = site.lock
        val batch =
            try {
                val plan = site.plan(size, costs.now)
                make(site, plan, size, body) { ended(site, it, future) }
            } catch (thrown: Throwable) {
                lifecycle.leave() // Code of a thread-local threw.
                throw thrown
            }
        val plan = batch.plan
        future.batch = batch
        registry.addDetached(batch)
        val helpers = if (batch.shareable) helpersWithoutCaller(plan, size) else 1
        val isOnEventThread = events.isOne(Thread.currentThread())
        if (lock != null) {
            // Publishes the batch now, so that it can be cancelled while it waits for the lock. `begin` runs it once it
            // has the lock.
            published(batch, helpers = 0)
            val waiter = SiteLock.Waiter { begin(batch) }
            batch.lockWaiter = waiter
            lock.acquire(waiter)
            if (batch.isOver) lock.release(waiter) // A cancel before `acquire` found no request to withdraw.
        } else if (isOnEventThread) publishedByOther(batch, helpers)
        else {
            published(batch, helpers = 0)
            askAtLeastOne(batch, helpers)
        }
    }

    /**
     * Returns how many threads run an asynchronous batch. Elastic threads replace the caller: with one thread less than
     * items, the last item would begin when the first one has ended. The CPU workers leave the caller its processor.
     */
    private fun helpersWithoutCaller(plan: Plan, size: Int): Int =
        if (plan.place == Placement.ELASTIC) minOf(plan.helpers + 1, size, costs.now.elasticMax)
        else maxOf(1, plan.helpers)

    /** Learns from an asynchronous batch that has ended, releases its site's lock, and completes its future. */
    private fun ended(site: Site, batch: Batch, future: BatchFuture<*>) {
        registry.removeDetached(batch)
        try {
            if (batch.plan.timeBatch) learn(site, batch)
        } catch (thrown: Throwable) {
            uncaught(thrown)
        }
        batch.lockWaiter?.let { site.lock?.release(it) }
        lifecycle.leave()
        val failure = batch.failure()
        if (failure != null) future.completeExceptionally(withSafeToString(failure)) else future.succeed()
    }

    /**
     * Begins an asynchronous batch of an ordered site, which now has the site's lock. Runs on the thread that released
     * the lock or asked for it.
     */
    private fun begin(batch: Batch) {
        if (!batch.isOver) askAtLeastOne(batch, 1)
    }

    /**
     * Asks helpers to join an asynchronous batch. Cancels the batch if no thread can be asked, because no caller runs
     * it.
     */
    private fun askAtLeastOne(batch: Batch, helpers: Int) {
        val thrown = ask(batch, helpers, batch.plan.place == Placement.ELASTIC) ?: return
        if (batch.asked == 0) batch.cancel(RejectedExecutionException(NO_THREAD, thrown))
    }

    /**
     * Publishes an asynchronous batch of an event thread. A thread start blocks until the system has run the new
     * thread, and a batch may need many threads. So the event thread asks one worker, and that worker asks the helpers.
     * If all workers hang, the watchdog finds the batch.
     */
    private fun publishedByOther(batch: Batch, helpers: Int) {
        published(batch, helpers = 0)
        try {
            workers.offer { askAtLeastOne(batch, helpers) }
        } catch (thrown: OutOfMemoryError) {
            batch.cancel(RejectedExecutionException(NO_THREAD, thrown))
        }
    }

    private fun enter(lane: Registry.Lane) {
        if (lane.isNested && !stopped) lifecycle.enterNested()
        else if (!lifecycle.enter()) throw RejectedExecutionException(SHUT)
    }

    private fun make(site: Site, plan: Plan, size: Int, body: Body, ended: Batch.Ended?): Batch {
        val shareable = !site.options.ordered
        val context = Context(site.options.locals)
        val batch = Batch(plan, size, body, clock, context, shareable, registry, ended)
        // An untimed batch is too short to ask for help. If it hangs, the watchdog finds it.
        if (shareable && size > 1 && plan.helpers == 0 && plan.timeBatch)
            batch.askForHelp = Runnable { askForHelp(batch) }
        return batch
    }

    private fun published(batch: Batch, helpers: Int = if (batch.shareable) batch.plan.helpers else 0) {
        watchdog.arm()
        // Pairs with [stop], which sets `stopped` and then lists the running batches. Either that list contains this
        // batch, or this thread sees `stopped`.
        if (stopped) batch.cancel(CancellationException(STOPPED))
        if (helpers > 0) ask(batch, helpers, batch.plan.place == Placement.ELASTIC)
    }

    private fun askForHelp(batch: Batch) {
        batch.hasExtraThreads = true
        ask(batch, minOf(costs.now.processors - 1, batch.waiting), onElastic = false)
    }

    /**
     * Asks `threads` threads to join the batch. Returns the error if the system could not start all of them, else null.
     */
    private fun ask(batch: Batch, threads: Int, onElastic: Boolean): OutOfMemoryError? {
        val from = clock.nanoTime()
        if (batch.offeredNs == 0L) batch.offeredNs = from
        val asked = if (onElastic) elastic else workers
        var started = 0
        var why: OutOfMemoryError? = null
        try {
            while (started < threads) {
                asked.offer(batch)
                started++
            }
        } catch (thrown: OutOfMemoryError) {
            why = thrown
            // The system cannot start more threads. The batch continues with the threads that it has.
        }
        batch.askedNs += clock.nanoTime() - from
        batch.asked += started
        return why
    }

    private fun learn(site: Site, batch: Batch) {
        val plan = batch.plan
        val elapsedNs = clock.nanoTime() - batch.startNs
        val totals = batch.totals ?: return
        val crowded = isCrowded(totals.threads, totals.cpuNs, elapsedNs, costs.now.processors)
        val seen =
            synchronized(totals) {
                Observation(
                    plan.place,
                    totals.items,
                    totals.itemsNs,
                    elapsedNs,
                    totals.cpuItems,
                    totals.cpuWallNs,
                    totals.cpuNs,
                    totals.waitedNs,
                    crowded,
                    paused = batch.collections >= 0 && clock.collections() != batch.collections,
                    slept = batch.slept,
                    totals.buckets,
                    plan.predictedNs,
                    batch.hasExtraThreads || !batch.shareable || batch.failure() != null || batch.wasCancelled,
                )
            }
        site.observe(seen)
        BatchEvents.learnt(site.name, seen, totals.threads)
        if (batch.asked > 0 && !batch.hasExtraThreads) {
            costs.follow(plan.place == Placement.ELASTIC, batch.asked, batch.askedNs, batch.joinedAfterNs)
        }
    }

    fun shutdown(): Unit = lifecycle.shut()

    /** Cancels the running batches. Call it after [shutdown]. */
    fun stop() {
        stopped = true
        for (batch in registry.running()) batch.cancel(CancellationException(STOPPED))
    }

    private companion object {
        const val SHUT = "the executor is shut down"
        const val NO_THREAD = "the system starts no thread"
        const val STOPPED = "the executor was shut down"
    }
}

/** The registered threads that must not be blocked. */
internal class EventThreads {
    private val threads: MutableSet<Thread> = ConcurrentHashMap.newKeySet()

    fun register(thread: Thread) {
        threads.removeIf { it.state == Thread.State.TERMINATED }
        threads += thread
    }

    fun isOne(thread: Thread): Boolean = !threads.isEmpty() && thread in threads
}
