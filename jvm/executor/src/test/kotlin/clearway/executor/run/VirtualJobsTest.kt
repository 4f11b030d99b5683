// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.AdaptiveExecutor
import clearway.executor.host.Carriers
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Future
import java.util.concurrent.ThreadFactory
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class VirtualJobsTest {
    /** Carriers and threads of a process. While all carriers are pinned, a thread that starts does not run. */
    private class World : Carriers, ThreadFactory {
        var pinned = false
        var carriers = 2
        private val ready = ArrayList<Runnable>()

        override fun add(count: Int): Int = count.also { carriers += it }

        override fun remove(count: Int) {
            carriers -= count
        }

        override fun newThread(run: Runnable): Thread =
            object : Thread(run) {
                override fun start() {
                    if (pinned) ready += run else run.run()
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
