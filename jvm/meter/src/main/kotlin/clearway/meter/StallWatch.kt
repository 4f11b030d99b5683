// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import clearway.meter.host.MeterClock
import clearway.meter.host.Watcher
import java.util.concurrent.CompletableFuture

/** A running watch over an event thread. For any thread. Never keeps a JVM alive. */
public class StallWatch internal constructor(private val watcher: Watcher) : AutoCloseable {
    private val closing = Any()
    @Volatile private var last: StallReport? = null

    /** Ends when the watched thread first answered, or its executor refused. Stalls are seen before that. */
    public val ready: CompletableFuture<Void?>
        get() = watcher.ready.copy()

    /** The report so far. Computed from the kept stalls on each call: O(n log n), allocates. */
    public fun report(): StallReport = last ?: watcher.report(MeterClock.nowMs())

    /** Begins anew: what was recorded is forgotten. Nothing after [close]. */
    public fun reset() {
        if (last == null) watcher.begin(MeterClock.nowMs())
    }

    /**
     * Stops watching; blocks for some ms, until the meter's thread has ended. [report] then gives the final report,
     * again and again. Harmless if called twice.
     */
    override fun close() {
        synchronized(closing) { if (last == null) last = watcher.report(watcher.stop()) }
    }
}
