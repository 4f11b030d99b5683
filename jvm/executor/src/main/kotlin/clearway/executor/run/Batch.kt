// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.Clock
import clearway.executor.model.Growth
import clearway.executor.model.Plan
import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.LockSupport

/**
 * A running batch. Threads join it, claim items ([Claims]) and run them until the batch ends ([Completion]). The batch
 * is published before any item runs, so that other threads can run the remaining items if the caller hangs in one.
 *
 * A trivial batch is `alone`: its items are one chunk, which the caller owns from the start. One atomic operation ends
 * such a batch. If another thread shares it before ([share]), it continues as any other batch.
 */
internal class Batch(
    val plan: Plan,
    private val size: Int,
    private val body: Body,
    private val clock: Clock,
    private val context: Context?,
    /** Whether other threads may join. False if the site is ordered, so that its items run one at a time. */
    val shareable: Boolean,
    private val registry: Registry,
    private val ended: Ended?,
    alone: Boolean = false,
) : Claims(size, alone, clock), Runnable {
    /** Called once, by the thread that ends the batch, when no item of the batch runs any more. */
    fun interface Ended {
        fun ended(batch: Batch)
    }

    /** The request of an asynchronous batch for the lock of its ordered site. Null for all other batches. */
    @Volatile var lockWaiter: SiteLock.Waiter? = null

    /** The batch that this batch is nested in, on the same thread. Null if there is none. */
    var outer: Batch? = null

    /** Decides about more threads. Only the watchdog uses it, and creates it when it first samples this batch. */
    var growth: Growth? = null
    /** Whether threads joined that were not planned. */
    @Volatile var hasExtraThreads: Boolean = false
    /** Whether the watchdog found a thread asleep in an item. */
    @Volatile var slept: Boolean = false
    /** Clock reading in ns when threads were first asked to join. 0 before. */
    @Volatile var offeredNs: Long = 0
    /** Time in ns from `offeredNs` until the first of these threads joined. 0 before. */
    @Volatile var joinedAfterNs: Long = 0

    /** Number of threads that were asked to join. */
    @Volatile var asked: Int = 0
    /** Time in ns that asking them took. */
    @Volatile var askedNs: Long = 0

    /**
     * Number of garbage collections of the JVM before the batch. -1 if the batch is too short for a collection to
     * matter.
     */
    val collections: Long = if (plan.readCpu) clock.collections() else -1
    val startNs: Long = if (plan.timeBatch) clock.nanoTime() else 0
    /** Whether an earlier sample of the watchdog found this batch. Only the watchdog uses it. */
    var seenBefore = false
    val totals: Totals? = if (plan.timeBatch) Totals() else null

    /** Asks workers to join, because the batch takes longer than predicted. The caller runs it at most once. */
    var askForHelp: Runnable? = null

    /** Number of threads in [runUnlessFull]. */
    private val limited = AtomicInteger()

    /** Joins the batch, unless `max` threads that called this function are in it. */
    fun runUnlessFull(max: Int) {
        try {
            if (limited.incrementAndGet() <= max) run()
        } finally {
            limited.decrementAndGet()
        }
    }

    /** Joins the batch. Runs on a thread that was asked. */
    override fun run() {
        if (offeredNs != 0L && joinedAfterNs == 0L) joinedAfterNs = maxOf(1L, clock.nanoTime() - offeredNs)
        if (waiting == 0) return
        val context = context ?: Context(emptyList(), checkNotNull(caller).thread)
        val scope =
            try {
                context.enter()
            } catch (thrown: Throwable) {
                return fail(thrown) // Code of a thread-local threw. Possibly no other thread joins, so the batch fails.
            }
        val me = Participant(Thread.currentThread())
        val lane = registry.lane()
        lane.inside++
        lockWaiter?.owner = Thread.currentThread()
        try {
            join(me, lane)
        } finally {
            lane.inside--
            try {
                context.leave(scope)
            } finally {
                Thread.interrupted() // An interrupt of an item must not reach the thread's next job.
                // Comes last. It may end the batch, and then runs the stages that depend on the batch's future. They
                // are not part of the batch.
                finish(me.items + me.dropped)
            }
        }
    }

    fun runAsCaller() {
        val me = checkNotNull(caller)
        try {
            join(me, registry.lane())
        } finally {
            finish(me.items + me.dropped)
        }
    }

    /**
     * Runs an `alone` batch on the calling thread and withdraws it from `lane`. Returns false if another thread shared
     * the batch or an item threw. The batch is then still published, and the caller must wait for its end.
     */
    fun runAlone(lane: Registry.Lane): Boolean {
        val me = checkNotNull(caller)
        var thrown: Throwable? = null
        var index = 0
        try {
            index = body.runFrom(me, 0)
        } catch (failed: Throwable) {
            thrown = failed
        }
        if (thrown == null) {
            // Withdraws the batch before it ends the batch, so that the barrier in `endAlone` orders both writes.
            lane.withdraw(outer)
            if (endAlone()) return true
            lane.publish(this)
        }
        try {
            if (thrown == null) {
                me.done(size)
                me.items = index
            } else {
                share()
                chunkFailed(me, thrown, 0, size)
            }
            runClaims(me) // Runs items that were taken back from this thread.
        } finally {
            me.leave()
            finish(me.items + me.dropped)
        }
        return false
    }

    /**
     * Ends the batch because an error that no item threw has ended the caller's part: for example, its stack was full.
     * Returns when no other thread runs an item. Returns whether the calling thread was interrupted meanwhile.
     */
    fun abandon(thrown: Throwable): Boolean {
        val me = checkNotNull(caller)
        try {
            if (share()) fail(thrown)
        } finally {
            me.giveUp(0)
            me.leave()
        }
        var interrupted = false
        // Looks at the threads, because the number of unfinished items may be wrong: the error may have come after the
        // caller claimed items, and before it counted them.
        while (everyone().any { it !== me && it.isActive }) {
            LockSupport.parkNanos(this, LOOK_NS)
            if (!Thread.interrupted()) continue
            interrupted = true
            cancel(null)
        }
        return interrupted
    }

    /** Runs items until none is left. The caller then counts the items of `me` as finished. */
    private fun join(me: Participant, lane: Registry.Lane) {
        try {
            val mayClaim = takesPart(me)
            if (plan.timeBatch) {
                if (plan.readCpu) {
                    if (plan.cold) lane.waitedSince(clock.waitedForProcessorNs())
                    me.threadNumber = lane.threadNumber(clock)
                    me.cpuStartNs = clock.threadCpuNs()
                }
                me.startNs = clock.nanoTime()
            }
            if (mayClaim) runClaims(me)
        } finally {
            try {
                if (plan.timeBatch && me.items > 0) totals?.add(me, lane, clock, plan.timeItems)
            } finally {
                me.leave() // Also after an error in this function: `abandon` waits for it.
            }
        }
    }

    /** Claims and runs items until none is left, and counts them in `me.items`. */
    private fun runClaims(me: Participant) {
        val chunk = plan.chunk
        val isCaller = me === caller
        var itemsSinceClock = 0
        var last = me.startNs
        while (true) {
            val first = cursor.claim(chunk)
            if (first < 0) {
                val index = claimTakenBack() ?: return
                runSpan(me, index, index + 1)
                continue
            }
            val end = cursor.end(first, chunk)
            if (plan.bulk) runBulk(me, first, end) else runSpan(me, first, end)
            if (plan.timeItems) {
                val now = clock.nanoTime()
                me.countDuration(now - last)
                me.itemsNs += now - last
                last = now
            }
            if (!isCaller) continue
            if (askForHelp != null) {
                itemsSinceClock += end - first
                if (itemsSinceClock >= plan.clockEvery) {
                    itemsSinceClock = 0
                    if (clock.nanoTime() - startNs > plan.helpAfterNs) callAskForHelp()
                }
            }
            // An interrupt of the caller ends the batch, as an interrupt ends the waits in java.util.concurrent.
            if (me.thread.isInterrupted) cancel(null)
        }
    }

    private fun callAskForHelp() {
        val asked = askForHelp ?: return
        askForHelp = null
        if (cursor.left > 0) asked.run()
    }

    private fun runSpan(me: Participant, first: Int, end: Int) {
        me.items += end - first // Counted first, so that an item that throws counts, too.
        for (index in first until end) {
            me.item = index
            runItem(me, index)
        }
    }

    private fun runBulk(me: Participant, first: Int, claimedEnd: Int) {
        me.begin(first, claimedEnd)
        if (wasCancelled || hasFailed) {
            // This chunk was claimed before `cancel` or `failed` closed the cursor, and begun after it took the chunks
            // back. So it is dropped here.
            me.dropped += me.giveUp(first)
            return
        }
        try {
            me.items += body.runFrom(me, first) - first
            me.done(claimedEnd)
        } catch (thrown: Throwable) {
            chunkFailed(me, thrown, first, claimedEnd)
        }
    }

    /**
     * Records the exception of the item that `me` runs. Drops the rest of its chunk, which begins at `first`, except
     * for the items that were taken back before.
     */
    private fun chunkFailed(me: Participant, thrown: Throwable, first: Int, claimedEnd: Int) {
        val next = me.item + 1
        try {
            failed(me, thrown)
        } finally {
            // Also if there is no memory to record it. The batch could otherwise not end.
            finish(me.giveUp(next))
            me.done(claimedEnd)
            me.items += next - first
        }
    }

    private fun runItem(me: Participant, index: Int) {
        try {
            body.run(index)
        } catch (thrown: Throwable) {
            failed(me, thrown)
        }
    }

    /**
     * Records the exception of an item that `me` ran, and drops the items that have not begun. An InterruptedException
     * on the caller's thread means that the item has consumed an interrupt of the caller. So it also cancels the batch,
     * which interrupts the other threads.
     */
    private fun failed(me: Participant, thrown: Throwable) {
        fail(thrown)
        if (plan.bulk) dropChunks(except = me)
        if (thrown is InterruptedException && me === caller) cancel(null)
    }

    override fun over() {
        ended?.ended(this)
    }

    private companion object {
        /** Time in ns between two looks at the threads of a batch that was abandoned. */
        const val LOOK_NS = 1_000_000L
    }
}

/**
 * The future of an asynchronous batch. `cancel` cancels the batch. The future completes when no item of the batch runs
 * any more. If every item has returned, its value is `result`, which the items may have filled.
 */
internal class BatchFuture<V>(private val result: V) : CompletableFuture<V>() {
    @Volatile var batch: Batch? = null

    fun succeed() {
        complete(result)
    }

    override fun cancel(mayInterruptIfRunning: Boolean): Boolean {
        val running = batch ?: return super.cancel(mayInterruptIfRunning)
        running.cancel(CancellationException("cancelled"))
        return if (isDone) isCancelled else running.wasCancelled
    }
}
