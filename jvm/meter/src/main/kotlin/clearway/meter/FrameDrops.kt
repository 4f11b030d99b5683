// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import clearway.meter.host.MeterClock
import clearway.meter.host.ownThread
import clearway.meter.model.expectedDroppedFrames
import java.math.BigDecimal
import java.math.MathContext
import java.util.concurrent.CompletableFuture
import java.util.concurrent.Executor
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.locks.LockSupport
import kotlin.math.ceil
import kotlin.math.floor

/** A lag that is longer than a frame. [startMs] counts from the call. Both times are in ms. */
public class FrameDrop internal constructor(public val startMs: Double, public val lagMs: Double)

/** The value of a function that [Meter.measureFrameDrops] ran, and the figures of its run. Times are in ms. */
public class FrameDrops<out T>
internal constructor(
    /** The function's return value, or the value of its stage. */
    public val value: T,
    /** All lags, in order. */
    public val lagsMs: List<Double>,
    /** The time from the call to the value. */
    public val totalMs: Double,
    public val hz: Double,
) {
    /** The time between two frames. */
    public val frameMs: Double = 1000 / hz

    /** Number of lags: one for each probe, and one that ends with the function. */
    public val probes: Int = lagsMs.size
    public val lagMeanMs: Double = if (lagsMs.isEmpty()) 0.0 else lagsMs.average()

    /** The longest lag. An event that arrived at its begin waited that long. */
    public val lagMaxMs: Double = lagsMs.maxOrNull() ?: 0.0

    /** Dropped frames as the meter counts them: the sum of max(0, lag / frame - 1), rounded once. */
    public val dropped: Int = expectedDroppedFrames(lagsMs.toDoubleArray(), hz).toInt()

    /**
     * Dropped frames as the published function counts them: a frame has 1000 / hz whole milliseconds, and a longer lag
     * drops all that it began.
     */
    public val droppedAsPublished: Int =
        floor(frameMs).let { whole -> lagsMs.sumOf { if (it > whole) ceil(it / whole).toInt() else 0 } }

    /** The lags that are longer than a frame, in order. */
    public val drops: List<FrameDrop> = buildList {
        var startMs = 0.0
        for (lagMs in lagsMs) {
            if (lagMs > frameMs) add(FrameDrop(startMs, lagMs))
            startMs += lagMs
        }
    }

    /** One line: "Jank: 59 frames dropped, max lag 1001 ms", or "Smooth: max lag 8 ms, average 2 ms, 564 probes". */
    public val verdict: String =
        if (dropped > 0) "Jank: ${counted(dropped, "frame")} dropped, max lag ${shown(lagMaxMs)}"
        else "Smooth: max lag ${shown(lagMaxMs)}, average ${shown(lagMeanMs)}, ${counted(probes, "probe")}"

    override fun toString(): String = verdict
}

private fun counted(count: Int, noun: String) = "$count $noun${if (count == 1) "" else "s"}"

/** Formats a time with three significant digits, two below 1 ms. */
private fun shown(ms: Double): String {
    if (ms >= 1000) return "${Math.round(ms)} ms"
    val digits = BigDecimal(ms).round(MathContext(if (ms >= 1) 3 else 2)).stripTrailingZeros()
    return "${digits.toPlainString()} ms"
}

/** Time between two probes, in ns. */
private const val PROBE_NS = 1_000_000L

/**
 * Runs a function on the thread of `executor`. Probes the thread every millisecond meanwhile, with at most one probe in
 * its queue.
 */
internal class FrameProbe<T>(
    private val executor: Executor,
    private val hz: Double,
    private val call: () -> CompletableFuture<T>,
    private val nowMs: () -> Double = MeterClock::nowMs,
) {
    /** Completes when the function's stage has completed. Never fails, but the caller may cancel it. */
    val outcome = CompletableFuture<Result<FrameDrops<T>>>()
    private val isQueued = AtomicBoolean()

    // The watched thread's, except at the end of a stage that another thread completes.
    private val lagsMs = ArrayList<Double>()
    private var beginMs = 0.0
    private var probedMs = 0.0

    /** Starts the function. */
    fun start() {
        executor.execute {
            beginMs = nowMs()
            probedMs = beginMs
            try {
                val stage = call()
                if (!stage.isDone) ownThread("clearway-meter-probe") { probeUntilOver() }.start()
                stage.whenComplete { value, failure -> end(resultOf(value, failure)) }
            } catch (thrown: Throwable) {
                // The function or a method of its stage threw, or the system starts no thread. The watched thread goes
                // on, because it belongs to the app.
                end(Result.failure(thrown))
            }
        }
    }

    /** Adds the lag since the last probe. */
    fun probe(): Unit =
        synchronized(lagsMs) {
            isQueued.set(false)
            if (outcome.isDone) return
            val now = nowMs()
            lagsMs += now - probedMs
            probedMs = now
        }

    private fun end(result: Result<T>) {
        synchronized(lagsMs) {
            probe()
            outcome.complete(result.map { FrameDrops(it, lagsMs.toList(), probedMs - beginMs, hz) })
        }
    }

    private fun probeUntilOver() {
        try {
            while (!outcome.isDone) {
                LockSupport.parkNanos(PROBE_NS)
                if (isQueued.compareAndSet(false, true)) executor.execute(::probe)
            }
        } catch (rejected: Throwable) {
            outcome.complete(Result.failure(rejected))
        }
    }
}
