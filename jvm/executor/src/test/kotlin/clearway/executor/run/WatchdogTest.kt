// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.Clock
import clearway.executor.model.Costs
import clearway.executor.model.Placement
import clearway.executor.threads
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Tests single samples of the watchdog on a fake clock. The sampled thread is real, and runs. */
class WatchdogTest {
    private class Fake : Clock {
        var now = 0L
        var cpuNs = 0L
        var waitedNs = -1L
        var collected = 0L

        override fun nanoTime() = now

        override fun threadCpuNs() = 0L

        override fun cpuNsOf(thread: Thread) = cpuNs

        var processNs = 0L

        /** Counts in steps of 10 ms, as Linux does. */
        override fun processCpuNs() = processNs / 10_000_000 * 10_000_000

        override fun threadNumber() = 7L

        override fun waitedForProcessorNs(threadNumber: Long) = waitedNs

        override fun collections() = collected
    }

    private val clock = Fake()
    private val registry = Registry()
    private val asked = ArrayList<Boolean>()
    private val watchdog =
        Watchdog(registry, clock, LiveCosts(Costs(processors = 2), clock)) { _, threads, elastic ->
            repeat(threads) { asked += elastic }
        }
    private val plan = planOf(Placement.INLINE, helpers = 0, timed = true)

    /**
     * Runs a batch of ten items whose first item spins, and samples it `samples` times, every `everyNs`. Calls
     * `between` before each sample.
     */
    private fun runSampled(samples: Int, everyNs: Long = 4_000_000, between: (Int) -> Unit): Batch {
        val begun = CountDownLatch(1)
        var over = false
        val body = Body { index ->
            if (index == 0) {
                begun.countDown()
                while (!synchronized(clock) { over }) Thread.onSpinWait()
            }
        }
        val batch = Batch(plan, 10, body, clock, null, true, registry, null)
        val caller = thread {
            batch.callerIsHere()
            registry.publish(registry.lane(), batch)
            batch.runAsCaller()
        }
        begun.await()
        for (sample in 0 until samples) {
            clock.now += everyNs
            between(sample)
            watchdog.sample()
        }
        synchronized(clock) { over = true }
        caller.join()
        return batch
    }

    @Test
    fun `a thread that has used no processor for long is asleep in the system, and elastic threads come`() {
        val batch = runSampled(samples = 10) {}
        assertTrue(batch.slept)
        assertTrue(true in asked)
    }

    @Test
    fun `a thread that runs is not asleep, whatever it takes, and CPU workers come first`() {
        val batch = runSampled(samples = 2) { clock.cpuNs += 4_000_000 }
        assertFalse(batch.slept)
        assertEquals(listOf(false), asked)
    }

    @Test
    fun `a thread that is ready and is given no processor is not asleep`() {
        clock.waitedNs = 0
        val batch = runSampled(samples = 50) { clock.waitedNs += 4_000_000 }
        assertFalse(batch.slept)
    }

    @Test
    fun `threads come seldom while the rest of the process keeps the processors busy, however coarse its clock is`() {
        // The batch's thread runs for 100 ms and then sleeps. Other threads of the process use both processors all the
        // time.
        repeat(60) {
            clock.now += 1_000_000
            clock.processNs += 2_000_000
            watchdog.sample()
        }
        val batch =
            runSampled(samples = 300, everyNs = 1_000_000) { sample ->
                clock.processNs += 2_000_000
                if (sample < 100) clock.cpuNs += 1_000_000
            }
        assertTrue(batch.slept)
        // One elastic thread after 64 samples, and one CPU worker after twice as many.
        assertEquals(listOf(true, false), asked)
    }

    @Test
    fun `a thread that the collector stops is not asleep`() {
        val batch = runSampled(samples = 50) { clock.collected++ }
        assertFalse(batch.slept)
    }

    /** A thread of an app that does not tell what it does. */
    private class Unreadable(run: Runnable) : Thread(run) {
        override fun getState(): State = throw SecurityException("no states")
    }

    @Test
    fun `a thread whose state cannot be read counts as awake, and other batches are sampled`() {
        val goOn = CountDownLatch(1)
        val begun = CountDownLatch(1)
        val batch = Batch(plan, 1, { begun.countDown().also { goOn.await() } }, clock, null, true, registry, null)
        val unreadable = Unreadable {
            batch.callerIsHere()
            registry.publish(registry.lane(), batch)
            batch.runAsCaller()
        }
        unreadable.start()
        begun.await()
        assertTrue(runSampled(samples = 10) {}.slept)
        assertFalse(batch.slept)
        goOn.countDown()
        unreadable.join()
    }

    /**
     * Starts a watchdog on a thread of its own. It finds nothing in 64 samples and then looks once more before it
     * sleeps. Calls `look` with the number of each look, from 1.
     */
    private fun started(look: (Int) -> Unit): Watchdog {
        val looks = AtomicInteger()
        val relieve = {
            look(looks.incrementAndGet())
            false
        }
        val own = Watchdog(registry, clock, LiveCosts(Costs(processors = 2), clock), relieve) { _, _, _ -> }
        own.arm()
        return own
    }

    @Test
    fun `the watchdog goes on when its last look before the sleep throws`() {
        val goesOn = CountDownLatch(1)
        val own = started { look ->
            if (look == LAST_LOOK) {
                Thread.currentThread().setUncaughtExceptionHandler { _, _ -> }
                throw StackOverflowError("broken")
            }
            if (look > LAST_LOOK) goesOn.countDown()
        }
        assertTrue(goesOn.await(1, TimeUnit.MINUTES))
        own.stop()
    }

    @Test
    fun `the sleeping watchdog clears an interrupt, and does not spin`() {
        val sleeps = CompletableFuture<Thread>()
        val own = started { look -> if (look == LAST_LOOK) sleeps.complete(Thread.currentThread()) }
        val thread = sleeps.get(1, TimeUnit.MINUTES)
        thread.interrupt()
        while (thread.isInterrupted) if (Thread.interrupted()) throw InterruptedException() else Thread.onSpinWait()
        own.stop()
        thread.join()
    }

    private companion object {
        /** Number of the look before the sleep, after 64 samples. */
        const val LAST_LOOK = 65
    }
}
