// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.Clock
import clearway.executor.model.Growth
import clearway.executor.model.Plan
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater
import java.util.concurrent.locks.LockSupport

/**
 * A batch while it runs: items behind a cursor, threads that claim them, and one ending. Published before any item
 * runs, so that what the caller has not begun can be run by others, whatever the caller hangs in.
 *
 * Everything that a thread did in an item happens before the batch ends. Nothing of the batch runs after its end.
 *
 * A trivial batch is `alone`: it is one chunk, and its caller's from the start. One atomic operation then tells its
 * end, unless somebody has looked inside before ([open]); from then on it is a batch as any other.
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
) : Runnable {
    /** Told once, by the thread that ends the batch, when nothing of it runs any more. */
    fun interface Ended {
        fun ended(batch: Batch)
    }

    val cursor: Cursor = if (alone) NOTHING else Cursor(size)
    @Volatile private var unfinished = 0
    @Volatile private var openness = 0
    private var takenBack: ConcurrentLinkedQueue<Int>? = null
    private var participants: ArrayList<Participant>? = null
    private var caller: Participant? = null
    @Volatile private var waiter: Thread? = null
    private var failure: Throwable? = null
    @Volatile private var cancelled = false

    /** Where it stands in the line of an ordered site, when nobody waits in it. */
    @Volatile var place: SiteTurn.Place? = null

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

    init {
        // To publish the batch is barrier enough.
        UNFINISHED.lazySet(this, size)
        if (alone) {
            OPENNESS.lazySet(this, ALONE)
            callerIsHere().ownsAll(size)
        }
    }

    val isOver: Boolean
        get() = unfinished <= 0 || openness == OVER

    /** Before anybody but the caller does anything with the batch. False when it is over. */
    fun open(): Boolean {
        if (openness == ALONE) OPENNESS.compareAndSet(this, ALONE, OPEN)
        return openness == OPEN
    }

    /** Items that no thread has claimed. */
    val waiting: Int
        get() = cursor.left + (synchronized(this) { takenBack }?.size ?: 0)

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
        place?.owner = Thread.currentThread()
        try {
            join(Participant(Thread.currentThread()))
        } finally {
            lane.inside--
            context.leave(scope)
            Thread.interrupted() // What an item left of an interrupt is not for the next one.
        }
    }

    /** The calling thread will take part: said before the batch is published. */
    fun callerIsHere(): Participant = Participant(Thread.currentThread()).also { caller = it }

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
            if (OPENNESS.compareAndSet(this, ALONE, OVER)) return true
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
        if (me !== caller)
            synchronized(this) { (participants ?: ArrayList<Participant>().also { participants = it }) += me }
        // Who closes the cursor counts what it drops: this may be before the one that cancels.
        if (cancelled) close()
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
                val index = synchronized(this) { takenBack }?.poll() ?: return
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
        if (cancelled) {
            // Claimed before the cancelling closed the cursor, begun after it took the chunks back.
            finish(me.giveUp(first))
            return
        }
        try {
            me.items += body.runFrom(me, first) - first
            me.done(claimedEnd)
        } catch (thrown: Throwable) {
            fail(thrown)
            // The rest of the chunk is nobody's any more, but for what was taken back in time.
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

    /** The first failure is the batch's; what others threw meanwhile hangs on it. Nothing more is begun. */
    private fun fail(thrown: Throwable) {
        synchronized(this) {
            val first = failure
            if (first == null) failure = thrown else if (first !== thrown) first.addSuppressed(thrown)
        }
        close()
    }

    /** Nothing more is begun, and the threads in items are interrupted. The batch ends when they have left. */
    fun cancel(why: RuntimeException?) {
        if (!open()) return
        synchronized(this) {
            if (cancelled || isOver) return
            cancelled = true
            if (failure == null) failure = why
        }
        // Nothing is handed out any more before anybody is interrupted: else a thread would leave the item that it was
        // interrupted in and begin another, which nobody interrupts.
        close()
        for (one in everyone()) {
            one.recall()?.let { finish(it.last - it.first + 1) }
            one.interrupt()
        }
    }

    private fun close() {
        var dropped = cursor.close()
        val back = synchronized(this) { takenBack }
        while (back?.poll() != null) dropped++
        if (dropped > 0) finish(dropped)
    }

    private fun finish(count: Int) {
        if (count == 0 || UNFINISHED.addAndGet(this, -count) > 0) return
        waiter?.let(LockSupport::unpark)
        ended?.ended(this)
    }

    /** Waits until nothing of the batch runs any more. Returns whether the thread was interrupted meanwhile. */
    fun await(): Boolean {
        if (isOver) return false
        waiter = Thread.currentThread()
        var interrupted = false
        // Awake for a while: others are often just at their last item, and being woken costs more than this.
        val spinUntil = clock.nanoTime() + AWAKE_NS
        while (!isOver) {
            if (clock.nanoTime() < spinUntil) Thread.onSpinWait() else LockSupport.park(this)
            if (Thread.interrupted()) {
                interrupted = true
                cancel(null)
            }
        }
        waiter = null
        return interrupted
    }

    /** Why the batch failed, once it is over; null where every item ran. */
    fun failure(): Throwable? = synchronized(this) { failure }

    val wasCancelled: Boolean
        get() = cancelled

    fun everyone(): List<Participant> {
        val helpers = synchronized(this) { participants?.toList() } ?: emptyList()
        return caller?.let { helpers + it } ?: helpers
    }

    /** Makes what a stuck thread has claimed and not begun free for others. Returns how many items that were. */
    fun takeBackFrom(stuck: Participant): Int {
        val back = synchronized(this) { takenBack ?: ConcurrentLinkedQueue<Int>().also { takenBack = it } }
        val taken = stuck.recall() ?: return 0
        for (index in taken) back.add(index)
        // A failure that came between dropped what was there then.
        if (failure() != null || cancelled) close()
        return taken.last - taken.first + 1
    }

    private companion object {
        /**
         * Less than what waking a parked thread costs on a machine without load (5 to 40 us), so that it never loses
         * much.
         */
        const val AWAKE_NS = 20_000L
        val NOTHING = Cursor(0)
        const val OPEN = 0
        const val ALONE = 1
        const val OVER = 2
        val OPENNESS: AtomicIntegerFieldUpdater<Batch> =
            AtomicIntegerFieldUpdater.newUpdater(Batch::class.java, "openness")
        val UNFINISHED: AtomicIntegerFieldUpdater<Batch> =
            AtomicIntegerFieldUpdater.newUpdater(Batch::class.java, "unfinished")
    }
}
