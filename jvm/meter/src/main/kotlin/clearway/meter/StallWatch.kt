// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import clearway.meter.host.MeterClock
import clearway.meter.host.Watcher
import java.util.concurrent.CompletableFuture

/** A running watch of an event thread. Thread-safe. Does not keep a JVM alive. */
public class StallWatch internal constructor(private val watcher: Watcher) : AutoCloseable {
    private val closing = Any()
    @Volatile private var last: StallReport? = null

    /**
     * Completes when the watched thread has answered for the first time, or when the watch has ended without an answer.
     * The meter detects stalls before that, too.
     */
    public val ready: CompletableFuture<Void?>
        get() = watcher.ready.copy()

    /**
     * Returns the report so far. Each call computes it from the kept stalls, in O(n log n) time, and allocates. After
     * [close], returns the final report.
     */
    public fun report(): StallReport = last ?: watcher.report(MeterClock.nowMs())

    /** Starts a new run and drops all recorded stalls. Does nothing after [close]. */
    public fun reset() {
        if (last == null) watcher.begin(MeterClock.nowMs())
    }

    /**
     * Stops watching. Blocks for some ms until the meter's thread has ended, and until the function of
     * [MeterOptions.onStall] has returned for the remaining stalls. If that function needs more than a second, this
     * function interrupts it, drops the stalls that still wait for it, and returns. If the executor's `execute` blocks
     * the meter's thread, this function interrupts that thread after a second, and returns after at most one more.
     * [report] returns the final report afterwards. A second call does nothing. The function of `onStall` may call it,
     * and does not wait for itself.
     */
    override fun close() {
        synchronized(closing) { if (last == null) last = watcher.report(watcher.stop()) }
        watcher.finishDelivery()
    }
}
