// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.Clock
import clearway.executor.host.OwnThread
import clearway.executor.model.BatchSample
import clearway.executor.model.Growth
import clearway.executor.model.Load
import java.util.concurrent.locks.LockSupport

/**
 * Samples batches that run for longer than a tick. Finds sleeping threads and waiting items, and adds threads. Its own
 * thread starts with the first batch, and parks while no batch runs. It samples less often while it finds nothing to
 * do.
 */
internal class Watchdog(
    private val registry: Registry,
    private val clock: Clock,
    private val costs: LiveCosts,
    /**
     * Moves a queued job to other threads if the workers are stuck ([Threads.relieve]). Returns whether jobs wait for a
     * thread.
     */
    private val relieve: () -> Boolean = { false },
    /** Whether [relieve] must be called from time to time even while nothing new happens. */
    private val mayGetStuck: () -> Boolean = { false },
    /**
     * Asks more threads to join a batch: how many, and whether they are elastic threads (for items that block) or CPU
     * workers.
     */
    private val more: (Batch, Int, Boolean) -> Unit,
) {
    @Volatile private var asleep = true
    @Volatile private var stopped = false
    private var thread: Thread? = null
    private val load = Load()
    private var collectionsBefore = 0L

    /**
     * Wakes the watchdog if it sleeps. Call it after publishing a batch. The caller publishes with a volatile store and
     * then reads `asleep`. The watchdog stores `asleep` and then looks for batches. So at least one of the two sees the
     * other's store.
     */
    fun arm() {
        if (asleep) wake()
    }

    private fun wake() {
        synchronized(this) {
            if (stopped) return
            asleep = false
            val running = thread
            if (running != null) LockSupport.unpark(running) else begin()
        }
    }

    private fun begin() {
        val begun = OwnThread.detached { OwnThread("clearway-watchdog") { run() } }
        try {
            begun.start()
            thread = begun
        } catch (_: OutOfMemoryError) {
            // The system cannot start more threads. The next batch tries again. This batch runs without a watchdog.
            asleep = true
        }
    }

    /** Ends the watchdog's thread. */
    fun stop() {
        synchronized(this) {
            stopped = true
            thread?.let(LockSupport::unpark)
        }
    }

    private fun run() {
        try {
            watch()
        } finally {
            // If an error ended the thread, the next batch starts another one.
            synchronized(this) {
                thread = null
                asleep = true
            }
        }
    }

    private fun watch() {
        var quiet = 0
        while (!stopped) {
            LockSupport.parkNanos(this, TICK_NS shl minOf(quiet / QUIET_SAMPLES, SLOWEST))
            Thread.interrupted()
            quiet = if (safely(otherwise = false, ::sample)) 0 else quiet + 1
            if (quiet < QUIET_SAMPLES * (SLOWEST + 1)) continue
            quiet = 0
            asleep = true
            if (safely(otherwise = true, ::findsWork)) asleep = false
            while (asleep && !stopped) {
                if (mayGetStuck()) {
                    LockSupport.parkNanos(this, SELDOM_NS)
                    // Two samples: one starts a check, and the next one reads its result.
                    quiet = QUIET_SAMPLES * (SLOWEST + 1) - 2
                    asleep = false
                } else LockSupport.park(this)
                Thread.interrupted() // An interrupt must not turn the wait into a spin.
            }
        }
    }

    /** Whether a batch runs or jobs wait. */
    private fun findsWork(): Boolean = registry.running().isNotEmpty() || relieved()

    /** Calls `look` and returns its result. If it throws, returns `otherwise`, and the watchdog goes on. */
    private inline fun safely(otherwise: Boolean, look: () -> Boolean): Boolean =
        try {
            look()
        } catch (thrown: Throwable) {
            uncaught(thrown)
            otherwise
        }

    /**
     * Calls [relieve] and returns its result. If the system cannot start a thread, the jobs wait for the existing
     * threads.
     */
    private fun relieved(): Boolean =
        try {
            relieve()
        } catch (_: OutOfMemoryError) {
            true
        }

    /** Takes one sample. Returns true if a batch runs for longer than a tick, or jobs wait. */
    fun sample(): Boolean {
        val now = clock.nanoTime()
        val jobsWait = relieved()
        // Reads the load even while no batch runs, so that the next batch finds a complete window.
        val idle = idleProcessors(now)
        val batches = registry.running()
        if (batches.isEmpty()) return jobsWait
        val collections = clock.collections()
        val collected = collections != collectionsBefore
        collectionsBefore = collections
        var long = jobsWait
        for (batch in batches) {
            if (batch.isOver) continue
            if (batch.seenBefore) {
                long = true
                // A batch whose sample throws must not keep the others from theirs.
                if (batch.shareable && batch.share())
                    safely(otherwise = true) {
                        sampleBatch(batch, now, idle, collected)
                        true
                    }
            }
            batch.seenBefore = true
        }
        return long
    }

    /** Returns how many processors the process did not use recently, from its CPU time. */
    private fun idleProcessors(now: Long): Int {
        load.sample(clock.processCpuNs(), now)
        return costs.now.processors.let { it - Math.round(load.used).toInt().coerceAtMost(it) }
    }

    /** Samples the threads of a batch, takes items back from stuck threads, and adds threads if that helps. */
    private fun sampleBatch(batch: Batch, now: Long, idle: Int, collected: Boolean) {
        var sleeping = 0
        var awake = 0
        var left = 0
        for (one in batch.everyone()) {
            if (!one.isActive) {
                left++
                continue
            }
            if (seemsAsleep(one, now, collected)) sleeping++ else awake++
            val item = one.item
            if (item == one.sampledItem && one.behind > 0) batch.takeBackFrom(one)
            one.sampledItem = item
        }
        val growth = batch.growth ?: Growth(costs.now).also { batch.growth = it }
        if (sleeping > 0) batch.slept = true
        val next = growth.next(BatchSample(batch.waiting, sleeping, awake, idle, left))
        if (next.threads == 0) return
        batch.hasExtraThreads = true
        more(batch, next.threads, next.elastic)
    }

    /** Whether a thread sleeps. False if its class is one of the app and does not tell: then no thread is added. */
    private fun seemsAsleep(one: Participant, now: Long, collected: Boolean): Boolean =
        try {
            sleeps(one, now, collected)
        } catch (_: Throwable) {
            false
        }

    /**
     * Whether a thread sleeps. A thread that is not RUNNABLE is parked, sleeps or waits for a lock. A RUNNABLE thread
     * sleeps in a system call if it used no CPU time for longer than a scheduler lets a ready thread wait, and does not
     * wait for a processor ([waits]). The measurement starts again after a garbage collection, which may have stopped
     * the thread.
     */
    private fun sleeps(one: Participant, now: Long, collected: Boolean): Boolean {
        if (one.thread.state != Thread.State.RUNNABLE) return true
        val cpu = clock.cpuNsOf(one.thread)
        if (cpu < 0 || cpu != one.sampledCpuNs || collected) {
            one.sampledCpuNs = cpu
            one.idleSinceNs = now
            one.sampledWaitedNs = -1
        }
        return now - one.idleSinceNs > NOT_SCHEDULED_NS && !waits(one, now)
    }

    /**
     * Whether a thread without progress is ready to run. If it is, the system counts the time that it waits for a
     * processor.
     */
    private fun waits(one: Participant, now: Long): Boolean {
        val waited = clock.waitedForProcessorNs(one.threadNumber)
        val before = one.sampledWaitedNs
        one.sampledWaitedNs = waited
        if (waited < 0) return false
        // The first sample only starts the count. The next sample comes a tick later.
        if (before < 0 || waited > before) {
            one.idleSinceNs = now - NOT_SCHEDULED_NS
            return true
        }
        return false
    }

    private companion object {
        /**
         * Time between samples, in ns. It is as long as several wakes (40 us each on a virtual machine), and short for
         * a person or a server.
         */
        const val TICK_NS = 1_000_000L
        /** After this many samples that found nothing to do, the time between samples doubles. */
        const val QUIET_SAMPLES = 16
        /** Time between checks of threads that may get stuck, in ns, while nothing else happens. */
        const val SELDOM_NS = 1_000_000_000L
        /** Maximum number of doublings: 8 ms between samples. That costs less than a thousandth of a processor. */
        const val SLOWEST = 3
        /**
         * A thread that used no CPU time for this long, in ns, is not just waiting for a processor. Linux runs every
         * ready thread within about 6 ms at two or three threads per processor.
         */
        const val NOT_SCHEDULED_NS = 12_000_000L
    }
}
