// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.Clock
import clearway.executor.model.Growth
import clearway.executor.model.Plan

/**
 * A batch while it runs: threads join it, claim items ([Claims]) and run them until it ends ([Completion]). It is
 * published before any item runs, so that other threads can run what the caller has not begun, whatever the caller
 * hangs in.
 *
 * A trivial batch is `alone`: it is one chunk, which the caller owns from the start. One atomic operation then ends it,
 * unless another thread has opened it before ([open]); from then on it is a batch like any other.
 */
internal class Batch(
    val plan: Plan,
    private val size: Int,
    private val body: Body,
    private val clock: Clock,
    private val context: Context?,
    /** May others join? Not where the items are promised to run one after another. */
    val shareable: Boolean,
    private val registry: Registry,
    private val ended: Ended?,
    alone: Boolean = false,
) : Claims(size, alone, clock), Runnable {
    /** Called once, by the thread that ends the batch, when nothing of it runs any more. */
    fun interface Ended {
        fun ended(batch: Batch)
    }

    /** Its request for the lock of an ordered site, when no thread waits for that. */
    @Volatile var lockWaiter: SiteLock.Waiter? = null

    /** The batch of the same thread that this one is nested in. */
    var outer: Batch? = null

    /** The watchdog's, made when it first looks. */
    var growth: Growth? = null
    @Volatile var grew: Boolean = false
    @Volatile var slept: Boolean = false
    @Volatile var offeredNs: Long = 0
    /** The time until the first thread that was asked came; 0 before. */
    @Volatile var joinedAfterNs: Long = 0

    /** Threads that were asked, and what asking took. */
    @Volatile var asked: Int = 0
    @Volatile var askedNs: Long = 0

    /** The collections until now, or -1 where the batch is too short for one to matter. */
    val collections: Long = if (plan.readCpu) clock.collections() else -1
    val startNs: Long = if (plan.timeBatch) clock.nanoTime() else 0
    var seenBefore = false
    val totals: Totals? = if (plan.timeBatch) Totals() else null

    /** Asks others to join what takes longer than was thought; the caller runs it once. */
    var beat: Runnable? = null

    /** A thread that was asked joins. */
    override fun run() {
        if (offeredNs != 0L && joinedAfterNs == 0L) joinedAfterNs = maxOf(1L, clock.nanoTime() - offeredNs)
        if (waiting == 0) return
        val context = context ?: Context(emptyList(), checkNotNull(caller).thread)
        val scope =
            try {
                context.enter()
            } catch (thrown: Throwable) {
                return fail(thrown) // A thread-local's own code; another thread may not come.
            }
        val lane = registry.lane()
        lane.inside++
        lockWaiter?.owner = Thread.currentThread()
        try {
            join(Participant(Thread.currentThread()))
        } finally {
            lane.inside--
            context.leave(scope)
            Thread.interrupted() // What an item left of an interrupt is not for the next one.
        }
    }

    fun runAsCaller(): Unit = join(checkNotNull(caller))

    /**
     * Runs all items of a batch that is alone, in this thread's lane, and withdraws it. False when others had a hand in
     * it: it is then still published, and to be waited for.
     */
    fun runAlone(lane: Registry.Lane): Boolean {
        val me = checkNotNull(caller)
        var thrown: Throwable? = null
        var index: Int
        try {
            index = body.runFrom(me, 0)
        } catch (failed: Throwable) {
            thrown = failed
            index = me.item
        }
        if (thrown == null) {
            // First out of sight and then over, so that one barrier serves for both.
            lane.withdraw(outer)
            if (endAlone()) return true
            lane.publish(this)
        } else {
            open()
            fail(thrown)
            finish(me.giveUp(++index))
        }
        me.done(size)
        me.items = index
        try {
            runClaims(me) // Of what was taken back.
        } finally {
            me.leave()
            finish(me.items)
        }
        return false
    }

    private fun join(me: Participant) {
        takesPart(me)
        if (plan.timeBatch) {
            if (plan.readCpu) {
                val lane = registry.lane()
                if (plan.cold) lane.waitedSince(clock.waitedForProcessorNs())
                me.threadNumber = lane.threadNumber(clock)
                me.cpuStartNs = clock.threadCpuNs()
            }
            me.startNs = clock.nanoTime()
        }
        try {
            runClaims(me)
        } finally {
            if (plan.timeBatch && me.items > 0) totals?.add(me, registry.lane(), clock, plan.timeItems)
            me.leave()
            finish(me.items)
        }
    }

    /** Runs what it can claim, and counts it in `me.items`. */
    private fun runClaims(me: Participant) {
        val chunk = plan.chunk
        val isCaller = me === caller
        var unlooked = 0
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
            if (beat != null) {
                unlooked += end - first
                if (unlooked >= plan.lookEvery) {
                    unlooked = 0
                    if (clock.nanoTime() - startNs > plan.beatNs) callBeat()
                }
            }
            // An interrupt of the caller ends the batch, as it ends the waits of java.util.concurrent.
            if (me.thread.isInterrupted) cancel(null)
        }
    }

    private fun callBeat() {
        val asked = beat ?: return
        beat = null
        if (cursor.left > 0) asked.run()
    }

    private fun runSpan(me: Participant, first: Int, end: Int) {
        me.items += end - first // They are its own, and counted whatever they throw.
        for (index in first until end) {
            me.item = index
            runItem(index)
        }
    }

    private fun runBulk(me: Participant, first: Int, claimedEnd: Int) {
        me.begin(first, claimedEnd)
        if (wasCancelled) {
            // Claimed before the cancelling closed the cursor, begun after it took the chunks back.
            finish(me.giveUp(first))
            return
        }
        try {
            me.items += body.runFrom(me, first) - first
            me.done(claimedEnd)
        } catch (thrown: Throwable) {
            fail(thrown)
            // The rest of the chunk is dropped, except for the items that were taken back before.
            val failed = me.item
            finish(me.giveUp(failed + 1))
            me.done(claimedEnd)
            me.items += failed + 1 - first
        }
    }

    private fun runItem(index: Int) {
        try {
            body.run(index)
        } catch (thrown: Throwable) {
            fail(thrown)
        }
    }

    override fun over() {
        ended?.ended(this)
    }
}
