// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.Carriers
import clearway.executor.host.OwnThread
import java.util.concurrent.ThreadFactory
import java.util.concurrent.atomic.AtomicInteger

/**
 * Starts a new virtual thread for every job. At most `batchMax` of these threads are in one batch. Without this limit,
 * a batch would get a further thread each time the watchdog finds its threads asleep or without a processor.
 *
 * A virtual thread that waits inside a native callback or a class initializer pins its carrier. If all carriers are
 * pinned, no virtual thread runs, not even one that would end the wait. The watchdog calls [unpin], which starts a
 * probe: a virtual thread that only records that it ran. If the probe does not run for long, this object adds carriers.
 * It takes them back when no job runs. Carriers belong to the whole process, so other users of virtual threads get
 * them, too.
 */
internal class VirtualJobs(
    private val factory: ThreadFactory,
    private val carriers: Carriers,
    private val batchMax: Int = Int.MAX_VALUE,
) : Threads {
    private val running = AtomicInteger()
    @Volatile private var onOffer: () -> Unit = {}
    /** Whether the last probe has not run. */
    @Volatile private var probed = false
    private var samples = 0
    private var patience = PATIENCE_MIN
    /** The number of added carriers. The thread that stops this object gives them back, too. */
    private val added = AtomicInteger()
    @Volatile private var stopped = false

    /** Whether jobs run. They may pin all carriers at any time. */
    override val mayGetStuck: Boolean
        get() = running.get() > 0

    override fun whenAllBusy(onAllBusy: () -> Unit) {
        onOffer = onAllBusy
    }

    override fun offer(job: Runnable) {
        running.incrementAndGet()
        try {
            start {
                try {
                    if (job is Batch) job.runUnlessFull(batchMax) else job.run()
                } finally {
                    running.decrementAndGet()
                }
            }
        } catch (thrown: Throwable) {
            running.decrementAndGet()
            throw thrown
        }
        onOffer()
    }

    private fun start(run: Runnable) {
        val thread = factory.newThread(run)
        thread.contextClassLoader = OwnThread.libraryLoader
        thread.start()
    }

    override fun unpin(): Boolean {
        if (!probed) {
            samples = 0
            if (!mayGetStuck) {
                patience = PATIENCE_MIN
                giveBack()
                return false
            }
            probe()
            return true
        }
        samples++
        if (samples < patience) return true
        samples = 0
        // Carriers may be busy instead of pinned, so the next wait is longer. Each addition doubles what was added, so
        // that many pinned carriers need few waits.
        patience = minOf(patience * 2, PATIENCE_MAX)
        added.addAndGet(carriers.add(added.get() + 1))
        // `stop` may have run meanwhile, before these carriers were counted.
        if (stopped) giveBack()
        return true
    }

    private fun probe() {
        probed = true
        try {
            start { probed = false }
        } catch (thrown: Throwable) {
            probed = false // Without a thread, no probe can show that the carriers run.
            throw thrown
        }
    }

    override fun stop() {
        stopped = true
        giveBack()
    }

    private fun giveBack() {
        val surplus = added.getAndSet(0)
        if (surplus > 0) carriers.remove(surplus)
    }

    private companion object {
        /** Initial patience, in samples of the watchdog: 16 ms or more, longer than nearly all waits for a carrier. */
        const val PATIENCE_MIN = 16
        /**
         * Maximum patience, in samples. If all carriers are busy, not pinned, the process gets as many threads as with
         * platform threads, which is harmless.
         */
        const val PATIENCE_MAX = 64
    }
}
