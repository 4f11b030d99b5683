// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import clearway.meter.MeterOptions
import clearway.meter.SourceState
import clearway.meter.Stall
import clearway.meter.StallReport
import clearway.meter.record.Found
import clearway.meter.record.Marks
import clearway.meter.record.Recorder
import clearway.meter.record.RecorderOptions
import java.time.Instant
import java.util.concurrent.CompletableFuture
import java.util.concurrent.Executor
import java.util.concurrent.locks.LockSupport

/**
 * Observes one thread. It connects three parts: a daemon thread that ticks a [Heart], the garbage collector's
 * notifications, and the recorder, which receives the findings of the other two.
 */
internal class Watcher(
    executor: Executor,
    private val options: MeterOptions,
    beatMs: Double,
    marks: Marks,
    private val onStall: (Stall) -> Unit,
) {
    private val recorder: Recorder =
        Recorder(
            RecorderOptions(
                options.label,
                options.hz,
                options.floorMs,
                options.stallsMax,
                sources = { sources() },
                marks = { fromMs, untilMs -> marks.during(heart.thread, fromMs, untilMs) },
            )
        )
    private val heart: Heart =
        Heart(executor, HeartOptions(options.floorMs, beatMs, options.stacks), recorder, MeterClock::nowMs)
    private val collections: Collections? = optional {
        Collections { startMs, endMs -> synchronized(recorder) { recorder.garbageCollected(startMs, endMs) } }
    }
    @Volatile private var runStarted = Instant.EPOCH
    @Volatile private var stopped = false
    private val thread = Thread(::run, "clearway-meter").apply { isDaemon = true }

    /** Completes when the first beat was answered, or when the watch has ended without an answer. */
    val ready: CompletableFuture<Void?> = CompletableFuture()

    fun start() {
        begin(MeterClock.nowMs())
        try {
            thread.start()
        } catch (thrown: Throwable) {
            collections?.close() // The system cannot start a thread.
            throw thrown
        }
    }

    private fun run() {
        try {
            watch()
        } catch (thrown: Throwable) {
            heart.failed("the meter", thrown)
        } finally {
            ready.complete(null)
            collections?.close()
        }
    }

    private fun watch() {
        while (!stopped) {
            val dueMs = heart.tick()
            if (heart.answered || heart.isRefused) ready.complete(null)
            if (heart.isRefused) break
            explain(MeterClock.nowMs() - SETTLE_MS)
            val leftNs = ((dueMs - MeterClock.nowMs()) * 1e6).toLong()
            if (leftNs > 0 && !stopped) LockSupport.parkNanos(leftNs)
        }
    }

    /** Starts a run at `atMs`. Stalls before `atMs` do not count. */
    fun begin(atMs: Double) {
        synchronized(recorder) {
            runStarted = Instant.now()
            recorder.begin(atMs, runStarted)
            heart.restart(atMs)
        }
    }

    /** Records that the watched thread ran `name` from `startMs` to `endMs`, without returning to its loop. */
    fun held(startMs: Double, endMs: Double, name: String) {
        synchronized(recorder) {
            recorder.call(startMs, endMs, name)
            recorder.found(Found(startMs, endMs, startMs, CLOCK_ERROR_MS))
            heart.held(endMs)
        }
    }

    /** Ends the run at `atMs`. Stalls after `atMs` do not count. */
    fun end(atMs: Double): Unit = synchronized(recorder) { recorder.end(atMs) }

    /** Explains every stall that ended by `untilMs`. Passes each of them to the flight recorder and to `onStall`. */
    fun explain(untilMs: Double) {
        val explained = synchronized(recorder) { recorder.explain(untilMs) }
        for (stall in explained) {
            guarded { FlightRecording.write(stall, runStarted, heart.thread, options.label) }
            guarded { onStall(stall) }
        }
    }

    fun report(atMs: Double): StallReport = synchronized(recorder) { recorder.report(atMs) }

    /**
     * Stops the meter's thread, and explains the remaining stalls, including one that still continues. Waits until that
     * thread has ended, which usually takes some ms. On the meter's own thread, does not wait. Returns the time of the
     * stop. A second call is harmless.
     */
    fun stop(): Double {
        stopped = true
        LockSupport.unpark(thread)
        val atMs = MeterClock.nowMs()
        if (Thread.currentThread() !== thread) joined()
        heart.finish(atMs)
        explain(atMs)
        return atMs
    }

    /** Waits until the meter's thread has ended. Until then, only that thread may tick or finish the heart. */
    private fun joined() {
        var interrupted = false
        while (thread.isAlive) {
            try {
                thread.join()
            } catch (_: InterruptedException) {
                interrupted = true
            }
        }
        if (interrupted) Thread.currentThread().interrupt()
    }

    private fun sources(): List<SourceState> {
        val missing = if (collections == null) "this JVM tells nothing, or forbids to ask it" else collections.missing
        return heart.sources() + SourceState("garbage collection", missing == null, missing)
    }

    companion object {
        /**
         * Delay between a stall's end and its explanation, in ms. In this time, the collector's notifications and the
         * last stack sample arrive.
         */
        const val SETTLE_MS: Double = 100.0
        /** Error, in ms, of a stall whose start and end were read from the clock. */
        private const val CLOCK_ERROR_MS = 0.001
    }
}
