// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.fuzzRuns
import clearway.executor.host.SystemClock
import clearway.executor.model.Placement
import java.util.concurrent.CancellationException
import java.util.concurrent.CyclicBarrier
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicIntegerArray
import java.util.concurrent.atomic.AtomicReference
import kotlin.concurrent.thread
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Tests races: threads meet at a barrier and then run, many times. The result must be right, whichever thread comes
 * first.
 */
class RacesTest {
    private fun race(rounds: Int, vararg racers: (Int) -> Unit, after: (Int) -> Unit) {
        val meet = CyclicBarrier(racers.size + 1)
        val threads =
            racers.map { racer ->
                thread(isDaemon = true) {
                    repeat(rounds) { round ->
                        meet.await()
                        racer(round)
                        meet.await()
                    }
                }
            }
        repeat(rounds) { round ->
            meet.await()
            meet.await()
            after(round)
        }
        threads.forEach { it.join() }
    }

    @Test
    fun `a cursor hands out every item once, and what its closing counts is what nobody got`() {
        val rounds = 2_000
        val cursors = Array(rounds) { Cursor(50) }
        val taken = Array(rounds) { AtomicIntegerArray(50) }
        val dropped = AtomicInteger()
        fun claimer(chunk: Int): (Int) -> Unit = { round ->
            val cursor = cursors[round]
            var first = cursor.claim(chunk)
            while (first >= 0) {
                for (index in first until cursor.end(first, chunk)) taken[round].incrementAndGet(index)
                first = cursor.claim(chunk)
            }
        }
        race(rounds, claimer(1), claimer(7), { dropped.set(cursors[it].close()) }) { round ->
            val got = (0 until 50).map { taken[round].get(it) }
            assertTrue(got.all { it <= 1 }, "got=$got")
            assertEquals(50, got.sum() + dropped.get())
            assertEquals(0, cursors[round].close())
        }
    }

    @Test
    fun `an item of a bulk chunk runs once, by its owner or by the thief that takes the chunk back`() {
        val rounds = 500
        val size = 2_000
        val ran = Array(rounds) { AtomicIntegerArray(size) }
        var owner = Participant(Thread.currentThread())
        val owned = Array(rounds) { arrayOfNulls<Participant>(1) }
        val ownerReady = AtomicInteger(-1)
        race(
            rounds,
            { round ->
                owner = Participant(Thread.currentThread())
                owner.begin(0, size)
                owned[round][0] = owner
                ownerReady.set(round)
                owner.runFrom(0) { ran[round].incrementAndGet(it) }
                owner.done(size)
            },
            { round ->
                spinUntil { ownerReady.get() >= round }
                repeat(round % 7 * 20) { Thread.onSpinWait() }
                owned[round][0]?.recall()?.forEach { ran[round].incrementAndGet(it) }
            },
        ) { round ->
            val wrong = (0 until size).filter { ran[round].get(it) != 1 }
            assertTrue(wrong.isEmpty(), "round=$round wrong=$wrong")
        }
    }

    @Test
    fun `a batch that is cancelled while a thread joins ends, once, whichever of them closes it`() {
        val plan = planOf(Placement.ELASTIC, helpers = 1, chunk = 4)
        val registry = Registry()
        val context = Context(emptyList())
        val joined = AtomicInteger(-1)
        val batch = AtomicReference<Batch>()
        val last = Batch(plan, 12, Body {}, SystemClock, context, true, registry, null)
        // The two threads spin while they wait for each other. At a barrier, the same thread would always be the first.
        val joiner =
            thread(isDaemon = true) {
                var round = 0
                while (true) {
                    spinUntil { batch.get() != null }
                    val next = batch.getAndSet(null)
                    if (next === last) break
                    next.run()
                    joined.set(round++)
                }
            }
        try {
            var round = 0
            while (round < ROUNDS) {
                val ends = AtomicInteger()
                val ended = Batch.Ended { ends.incrementAndGet() }
                val next = Batch(plan, 12, Body {}, SystemClock, context, true, registry, ended)
                batch.set(next)
                spinUntil { batch.get() == null }
                repeat(round % 64) { Thread.onSpinWait() }
                next.cancel(CancellationException("not wanted"))
                spinUntil { joined.get() == round }
                assertTrue(next.isOver, "round=$round")
                assertEquals(1, ends.get(), "round=$round")
                round++
            }
        } finally {
            batch.set(last)
        }
        joiner.join()
    }

    @Test
    fun `work that enters a lifecycle leaves before its end is told, and none enters later`() {
        val rounds = 5_000
        val cycles = Array(rounds) { Lifecycle() }
        val inside = AtomicInteger()
        val refused = AtomicInteger()
        fun worker(): (Int) -> Unit = { round ->
            if (cycles[round].enter()) {
                inside.incrementAndGet()
                assertTrue(!cycles[round].isOver)
                inside.decrementAndGet()
                cycles[round].leave()
            } else refused.incrementAndGet()
        }
        race(rounds, worker(), worker(), { cycles[it].shut() }) { round ->
            assertTrue(cycles[round].isShut && cycles[round].isOver)
            assertEquals(0, inside.get())
            assertTrue(!cycles[round].enter())
        }
    }

    @Test
    fun `no job is lost between workers that fall asleep, end, and are woken`() {
        // Idle workers end at once, so each job races with the end of a worker.
        val workers = Workers("race", max = 2, stayNs = 0, spinNs = 0)
        val done = AtomicInteger()
        val offer: (Int) -> Unit = { workers.offer { done.incrementAndGet() } }
        race(3_000, offer, offer, offer) { round -> spinUntil { done.get() >= (round + 1) * 3 } }
        assertEquals(9_000, done.get())
    }

    /**
     * Spins until `isSo` returns true. After [SPINS] spins, it yields its core, because the other thread may have no
     * core.
     */
    private inline fun spinUntil(isSo: () -> Boolean) {
        var spins = 0
        while (!isSo()) if (spins++ < SPINS) Thread.onSpinWait() else Thread.yield()
    }

    private companion object {
        const val SPINS = 1_000
        /**
         * Number of rounds. A past error, a batch that never ended, showed within 2,400 rounds.
         * `CLEARWAY_FUZZ_RUNS=1000000` runs more.
         */
        val ROUNDS = fuzzRuns(2_500)
    }
}

/** Tests thread-locals that throw, between two that do not. */
class ContextTest {
    private val first = ThreadLocal<Any?>()
    private val last = ThreadLocal<Any?>()
    private var isBroken = false
    private val broken =
        object : ThreadLocal<Any?>() {
            override fun set(value: Any?) {
                if (isBroken) throw IllegalStateException("set: value=$value")
                super.set(value)
            }
        }
    private val all = listOf(first, broken, last)
    private val loader = Thread.currentThread().contextClassLoader

    private fun set(value: Any?) = all.forEach { it.set(value) }

    /** The context of a caller with values and a class loader of its own. The thread then has the value "own". */
    private fun context(): Context {
        val thread = Thread.currentThread()
        thread.contextClassLoader = object : ClassLoader() {}
        set("caller")
        val context = Context(all)
        thread.contextClassLoader = loader
        set("own")
        return context
    }

    private fun assertOwn() {
        assertEquals(listOf("own", "own"), listOf(first.get(), last.get()))
        assertSame(loader, Thread.currentThread().contextClassLoader)
    }

    @Test
    fun `a thread has its own values when a thread-local throws as it enters`() {
        val context = context()
        isBroken = true
        val thrown = assertThrows(IllegalStateException::class.java) { context.enter() }
        assertEquals("set: value=caller", thrown.message)
        assertOwn()
    }

    @Test
    fun `a thread has its own values when a thread-local throws as it leaves`() {
        val context = context()
        val scope = context.enter()
        isBroken = true
        assertThrows(IllegalStateException::class.java) { context.leave(scope) }
        assertOwn()
    }
}

class ParticipantTest {
    private val me = Participant(Thread.currentThread())

    @Test
    fun `the items of a chunk that have not begun are taken back once`() {
        me.begin(100, 200)
        me.item = 150
        assertEquals(151..199, me.recall())
        assertEquals(0, me.behind)
        assertNull(me.recall())
    }

    @Test
    fun `a thread whose stack cannot be read keeps the items of its chunk`() {
        val unreadable =
            object : Thread() {
                override fun getStackTrace(): Array<StackTraceElement> = throw SecurityException("no stacks")
            }
        val owner = Participant(unreadable)
        owner.begin(100, 200)
        assertNull(owner.recall())
        assertEquals(99, owner.behind)
    }

    @Test
    fun `what an app's thread throws when it is interrupted goes to the handler of uncaught exceptions`() {
        val deaf =
            object : Thread() {
                override fun interrupt() = throw SecurityException("no interrupts")
            }
        val caught = mutableListOf<Throwable>()
        Thread {
                Thread.currentThread().setUncaughtExceptionHandler { _, thrown -> caught += thrown }
                Participant(deaf).interrupt()
                caught += RuntimeException("the caller goes on")
            }
            .apply { start() }
            .join()
        assertEquals(listOf("no interrupts", "the caller goes on"), caught.map { it.message })
    }

    @Test
    fun `a thread that runs single items of an earlier chunk owns no items behind them`() {
        me.begin(100, 200)
        me.item = 150
        me.recall()
        me.done(200)
        me.item = 23 // An item that was taken back from any thread.
        assertEquals(0, me.behind)
        assertNull(me.recall())
    }
}
