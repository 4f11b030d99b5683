// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.AdaptiveExecutor
import clearway.executor.host.Carriers
import clearway.executor.host.SystemClock
import clearway.executor.model.Placement
import clearway.executor.model.Plan
import clearway.executor.recorded
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Future
import java.util.concurrent.ThreadFactory
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Returns a plan that measures nothing, unless `timed` is set. Chunks of more than one item are claimed at once. */
internal fun planOf(place: Placement, helpers: Int, chunk: Int = 1, timed: Boolean = false): Plan =
    Plan(
        place,
        helpers,
        chunk,
        bulk = chunk > 1,
        timeItems = false,
        timeBatch = timed,
        readCpu = timed,
        helpAfterNs = 0,
        clockEvery = chunk,
        predictedNs = 0.0,
    )

/** Tests the limit of threads in one batch where no pool limits them. */
class BatchLimitTest {
    private val noCarriers =
        object : Carriers {
            override fun add(count: Int) = 0

            override fun remove(count: Int) {}
        }

    @Test
    fun `no more threads join a batch than the limit, however many are asked`() {
        val goOn = CountDownLatch(1)
        val refused = CountDownLatch(2)
        val threads = ConcurrentLinkedQueue<Thread>()
        val now = AtomicInteger()
        val most = AtomicInteger()
        val body = Body {
            most.accumulateAndGet(now.incrementAndGet(), ::maxOf)
            goOn.await()
            now.decrementAndGet()
        }
        val factory = ThreadFactory { job -> Thread { job.run().also { refused.countDown() } }.also(threads::add) }
        val jobs = VirtualJobs(factory, noCarriers, batchMax = 2)
        val batch =
            Batch(
                planOf(Placement.CPU, helpers = 3),
                12,
                body,
                SystemClock,
                Context(emptyList()),
                true,
                Registry(),
                null,
            )
        repeat(4) { jobs.offer(batch) }
        refused.await() // Two threads return while the two others are in items.
        goOn.countDown()
        threads.forEach(Thread::join)
        assertEquals(2, most.get())
    }
}

/** Tests a batch whose threads claim four items at once, when an item fails. */
class FailedBatchTest {
    @Test
    fun `a thread begins no further item of its chunk when an item on another thread has failed`() {
        val inFirst = CountDownLatch(1)
        val goOn = CountDownLatch(1)
        val begun = ConcurrentLinkedQueue<Int>()
        val ends = AtomicInteger()
        val body = Body { index ->
            begun += index
            if (index != 0) throw IllegalStateException("item $index")
            inFirst.countDown()
            goOn.await()
        }
        val ended = Batch.Ended { ends.incrementAndGet() }
        val batch =
            Batch(
                planOf(Placement.CPU, helpers = 1, chunk = 4),
                12,
                body,
                SystemClock,
                Context(emptyList()),
                true,
                Registry(),
                ended,
            )
        val first = thread { batch.run() }
        inFirst.await()
        batch.run() // Runs item 4, which fails.
        assertFalse(batch.isOver)
        goOn.countDown()
        first.join()
        assertEquals(listOf(0, 4), begun.toList())
        assertEquals("item 4", batch.failure()?.message)
        assertTrue(batch.isOver)
        assertEquals(1, ends.get())
    }
}

class BatchEventsTest {
    @Test
    fun `batches and changes of place are events of a flight recording`() {
        val events =
            recorded("clearway.Batch", "clearway.Decision") {
                AdaptiveExecutor(processors = 2, elasticMax = 16).use { executor ->
                    val waits = executor.site("waits")
                    // Runs items that wait for each other, so they end only together. The executor sees that the site
                    // blocks, and moves it to elastic threads.
                    repeat(20) {
                        val all = CountDownLatch(8)
                        executor.runAll(waits, 8) {
                            all.countDown()
                            all.await()
                        }
                    }
                }
            }
        val batches = events.filter { it.eventType.name == "clearway.Batch" && it.getString("site") == "waits" }
        assertTrue(batches.isNotEmpty())
        assertEquals("INLINE", batches.first().getString("place"))
        assertTrue(batches.all { it.getInt("items") <= 8 && !it.getDuration("length").isNegative })
        val decisions = events.filter { it.eventType.name == "clearway.Decision" && it.getString("site") == "waits" }
        assertTrue(decisions.all { it.getString("from") != it.getString("to") })
        val places = batches.map { it.getString("place") }.distinct()
        assertTrue(places.size == 1 || decisions.isNotEmpty()) { "places: $places" }
    }
}

class VirtualJobsTest {
    /** Carriers and threads of a process. While all carriers are pinned, a thread that starts does not run. */
    private class World : Carriers, ThreadFactory {
        var pinned = false
        var carriers = 2
        var onAdd: () -> Unit = {}
        var onNewThread: () -> Unit = {}
        private val ready = ArrayList<Runnable>()

        override fun add(count: Int): Int {
            onAdd()
            carriers += count
            return count
        }

        override fun remove(count: Int) {
            carriers -= count
        }

        override fun newThread(run: Runnable): Thread {
            onNewThread()
            return object : Thread(run) {
                override fun start() {
                    if (pinned) ready += run else run.run()
                }
            }
        }

        fun unpin() {
            pinned = false
            while (ready.isNotEmpty()) ready.removeAt(0).run()
        }
    }

    private fun VirtualJobs.samples(count: Int) = repeat(count) { assertTrue(unpin()) }

    @Test
    fun `carriers are added while no virtual thread can run, ever more of them and ever later`() {
        val world = World().apply { pinned = true }
        val jobs = VirtualJobs(world, world)
        jobs.offer {}
        jobs.samples(16)
        assertEquals(2, world.carriers)
        jobs.samples(1)
        assertEquals(3, world.carriers)
        jobs.samples(32)
        assertEquals(5, world.carriers)
        jobs.samples(64)
        assertEquals(9, world.carriers)
        jobs.samples(64)
        assertEquals(17, world.carriers)
    }

    @Test
    fun `added carriers are taken back when no job runs`() {
        val world = World().apply { pinned = true }
        val jobs = VirtualJobs(world, world)
        jobs.offer {}
        assertTrue(jobs.mayGetStuck)
        jobs.samples(17)
        assertEquals(3, world.carriers)
        world.unpin()
        assertFalse(jobs.mayGetStuck)
        assertFalse(jobs.unpin())
        assertEquals(2, world.carriers)
        assertFalse(jobs.unpin())
        assertEquals(2, world.carriers)
    }

    @Test
    fun `no carrier is added while virtual threads run`() {
        val world = World().apply { pinned = true }
        val jobs = VirtualJobs(world, world)
        jobs.offer {} // Does not end, as a job that waits.
        world.pinned = false
        repeat(1_000) { jobs.unpin() }
        assertEquals(2, world.carriers)
    }

    @Test
    fun `no carrier is added when a probe could not start`() {
        val world = World().apply { pinned = true }
        val jobs = VirtualJobs(world, world)
        jobs.offer {}
        world.onNewThread = {
            world.onNewThread = {}
            throw OutOfMemoryError("no thread")
        }
        assertThrows(OutOfMemoryError::class.java) { jobs.unpin() }
        world.unpin()
        repeat(1_000) { jobs.unpin() }
        assertEquals(2, world.carriers)
        assertFalse(jobs.unpin())
    }

    @Test
    fun `carriers that are added during the stop are taken back`() {
        val world = World().apply { pinned = true }
        val jobs = VirtualJobs(world, world)
        jobs.offer {}
        world.onAdd = { jobs.stop() }
        jobs.samples(17)
        assertEquals(2, world.carriers)
    }

    @Test
    fun `a job that cannot start does not count`() {
        val jobs = VirtualJobs({ throw OutOfMemoryError("no thread") }, World())
        runCatching { jobs.offer {} }
        assertFalse(jobs.mayGetStuck)
    }

    /** A class of its own for each loader. Its initializer waits, and pins the carrier of a virtual thread. */
    private class Waits : ClassLoader(Waits::class.java.classLoader) {
        fun initialize() {
            val name = "clearway.executor.run.WaitsInInitializer"
            val bytes = getResourceAsStream(name.replace('.', '/') + ".class").use { it!!.readAllBytes() }
            Class.forName(defineClass(name, bytes, 0, bytes.size).name, true, this)
        }
    }

    @Test
    fun `a later task runs while tasks wait inside class initializers on every carrier`() {
        Gate.open = CountDownLatch(1)
        AdaptiveExecutor(processors = 1, elasticMax = 64).use { executor ->
            val waiting: List<Future<*>> =
                List(Runtime.getRuntime().availableProcessors() + 2) { executor.submit { Waits().initialize() } }
            executor.submit { Gate.open.countDown() }.get(5, TimeUnit.MINUTES)
            waiting.forEach { it.get() }
        }
    }
}

internal object Gate {
    @Volatile var open = CountDownLatch(1)
}

/** Only [VirtualJobsTest] loads it, under class loaders of its own. */
@Suppress("unused")
internal object WaitsInInitializer {
    init {
        Gate.open.await()
    }
}
