// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.Clock
import clearway.executor.model.Growth
import clearway.executor.model.Load
import clearway.executor.model.Look
import java.util.concurrent.locks.LockSupport

/**
 * Looks at the batches that go on for longer than a tick: whose threads sleep, whose items wait. Its thread starts with
 * the first batch, is parked while none runs, and looks less often while it finds nothing to do.
 */
internal class Watchdog(
    private val registry: Registry,
    private val clock: Clock,
    private val costs: LiveCosts,
    /** Relieves threads that wait for what waits for them; returns whether jobs wait for a thread. */
    private val relieve: () -> Boolean = { false },
    private val more: (Batch, Int, Boolean) -> Unit,
) {
    @Volatile private var asleep = true
    @Volatile private var stopped = false
    private var thread: Thread? = null
    private val load = Load()
    private var collectionsBefore = 0L

    /**
     * A batch was published. The store that published it is volatile and comes first; the watchdog says that it is
     * asleep and looks once more: one of the two sees the other.
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
        val begun = Thread({ run() }, "clearway-watchdog")
        begun.isDaemon = true
        try {
            begun.start()
            thread = begun
        } catch (_: OutOfMemoryError) {
            // The system starts no more threads: the next batch tries again, and this one goes on without.
            asleep = true
        }
    }

    /** Ends its thread. */
    fun stop() {
        synchronized(this) {
            stopped = true
            thread?.let(LockSupport::unpark)
        }
    }

    private fun run() {
        var quiet = 0
        while (!stopped) {
            LockSupport.parkNanos(this, TICK_NS shl minOf(quiet / QUIET_LOOKS, SLOWEST))
            Thread.interrupted()
            quiet = if (looked()) 0 else quiet + 1
            if (quiet < QUIET_LOOKS * (SLOWEST + 1)) continue
            quiet = 0
            asleep = true
            if (registry.running().isNotEmpty() || relieved()) asleep = false
            while (asleep && !stopped) LockSupport.park(this)
        }
    }

    /** As [look]. Whatever it throws, the next look comes. */
    private fun looked(): Boolean =
        try {
            look()
        } catch (thrown: Throwable) {
            uncaught(thrown)
            false
        }

    /** As [relieve]; where the system starts no thread, the jobs go on waiting for those that there are. */
    private fun relieved(): Boolean =
        try {
            relieve()
        } catch (_: OutOfMemoryError) {
            true
        }

    /** One look at everything; true when there was a batch that runs for longer than a tick, or jobs wait. */
    fun look(): Boolean {
        val now = clock.nanoTime()
        val jobsWait = relieved()
        // Also while no batch runs, so that the next one finds a window that has passed.
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
                if (batch.shareable && batch.open()) lookAt(batch, now, idle, collected)
            }
            batch.seenBefore = true
        }
        return long
    }

    /** By the process's recent CPU time: processors that it did not use are idle as far as this process knows. */
    private fun idleProcessors(now: Long): Int {
        load.look(clock.processCpuNs(), now)
        return costs.now.processors.let { it - Math.round(load.used).toInt().coerceAtMost(it) }
    }

    private fun lookAt(batch: Batch, now: Long, idle: Int, collected: Boolean) {
        var sleeping = 0
        var awake = 0
        for (one in batch.everyone()) {
            if (!one.isActive) continue
            if (sleeps(one, now, collected)) sleeping++ else awake++
            val item = one.item
            if (item == one.lookedItem && one.behind > 0) batch.takeBackFrom(one)
            one.lookedItem = item
        }
        val growth = batch.growth ?: Growth(costs.now).also { batch.growth = it }
        if (sleeping > 0) batch.slept = true
        val next = growth.next(Look(batch.waiting, sleeping, awake, idle))
        if (next.threads == 0) return
        batch.grew = true
        more(batch, next.threads, next.elastic)
    }

    /**
     * Parked, waiting for a lock or asleep; or in the system for longer than a scheduler makes a ready thread wait,
     * which it was not if the collector stopped it meanwhile.
     */
    private fun sleeps(one: Participant, now: Long, collected: Boolean): Boolean {
        if (one.thread.state != Thread.State.RUNNABLE) return true
        val cpu = clock.cpuNsOf(one.thread)
        if (cpu < 0 || cpu != one.lookedCpuNs || collected) {
            one.lookedCpuNs = cpu
            one.idleSinceNs = now
            one.lookedWaitedNs = -1
        }
        return now - one.idleSinceNs > NOT_SCHEDULED_NS && !waits(one, now)
    }

    /** Whether a thread that does not run is ready to: the system counts the time that it waits for a processor. */
    private fun waits(one: Participant, now: Long): Boolean {
        val waited = clock.waitedForProcessorNs(one.threadNumber)
        val before = one.lookedWaitedNs
        one.lookedWaitedNs = waited
        if (waited < 0) return false
        // The first look only says from where to count; the next is a tick away.
        if (before < 0 || waited > before) {
            one.idleSinceNs = now - NOT_SCHEDULED_NS
            return true
        }
        return false
    }

    private companion object {
        /**
         * Several wakes (40 us each on a virtual machine) long, and short against what a person or a server notices.
         */
        const val TICK_NS = 1_000_000L
        const val QUIET_LOOKS = 16
        /** 8 ms: as often as this costs under a thousandth of a processor. */
        const val SLOWEST = 3
        /** Linux gives every ready thread its turn within some 6 ms at two or three threads a processor. */
        const val NOT_SCHEDULED_NS = 12_000_000L
    }
}
