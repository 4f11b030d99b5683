// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

import clearway.meter.host.MeterClock
import clearway.meter.host.Watcher
import clearway.meter.record.Marks
import java.util.concurrent.Callable
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionException
import java.util.concurrent.CompletionStage
import java.util.concurrent.ExecutionException
import java.util.concurrent.Executor
import java.util.function.Consumer

/**
 * Measures the stalls of an event thread, and finds their causes. In a stall, the thread cannot answer events. The
 * caller names the thread by an `Executor` that runs its tasks on that thread, in order: `SwingUtilities::invokeLater`,
 * an event loop, or a single-thread executor. Any thread may call the meter. The meter does not depend on the rest of
 * Clearway.
 */
public object Meter {
    private val marks = Marks(MeterClock::nowMs)

    /**
     * Watches a thread until the returned watch is closed. Does not wait for the thread. Starts a daemon thread that
     * submits a task to `executor` 500 times a second by default. Such a task is called a beat, and takes about 0.1 us
     * on the watched thread. The README states the whole cost.
     */
    @JvmStatic
    @JvmOverloads
    public fun watch(executor: Executor, options: MeterOptions = MeterOptions()): StallWatch {
        val watcher = watcher(executor, options, MeterOptions.BEAT_MS, options.onStall)
        watcher.start()
        return StallWatch(watcher)
    }

    /**
     * Runs `function` once on the thread of `executor` and reports its stalls. A function that blocks for 100 ms is one
     * stall of 100 ms. Blocks the caller until the function has run, and then for 0.1 s to collect reports that arrive
     * late, such as garbage collections, which explain the stalls. The report does not include that 0.1 s.
     *
     * Do not call it on the watched thread, which would wait for itself. An interrupt ends the caller's wait with an
     * `InterruptedException`, but does not stop the function. If the executor's `execute` blocks the meter, the
     * exception comes after one or two seconds.
     *
     * @throws Exception the exception of the function, as the same object
     * @throws java.util.concurrent.RejectedExecutionException if the executor rejects tasks
     */
    @JvmStatic
    @JvmOverloads
    @Throws(Exception::class)
    public fun <T> measure(
        executor: Executor,
        options: MeterOptions = MeterOptions(),
        function: Callable<T>,
    ): Measurement<T> = measured(executor, options) { CompletableFuture.completedFuture(function.call()) }

    /**
     * Measures a function that returns a stage before its work is done. The measurement ends when the stage completes.
     * Until then it counts every stall of the thread, including stalls of unrelated tasks. Otherwise it works as
     * [measure] does.
     */
    @JvmStatic
    @JvmOverloads
    @Throws(Exception::class)
    public fun <T> measureStage(
        executor: Executor,
        options: MeterOptions = MeterOptions(),
        function: Callable<out CompletionStage<T>>,
    ): Measurement<T> = measured(executor, options) { function.call().toCompletableFuture() }

    /**
     * Runs `function` once on the thread of `executor`, and probes that thread every millisecond meanwhile. A lag is
     * the time between two probes; the last one ends when the function does. `hz` is the frame rate. Does not say what
     * caused a lag: [measure] does. Blocks the caller, as [measure] does.
     *
     * @throws IllegalArgumentException if `hz` is not over 0 and at most 1000
     * @throws Exception the exception of the function, as the same object
     * @throws java.util.concurrent.RejectedExecutionException if the executor rejects tasks
     */
    @JvmStatic
    @JvmOverloads
    @Throws(Exception::class)
    public fun <T> measureFrameDrops(executor: Executor, hz: Double = 60.0, function: Callable<T>): FrameDrops<T> =
        probed(executor, hz) { CompletableFuture.completedFuture(function.call()) }

    /** Does what [measureFrameDrops] does, for a function that returns a stage. Ends when the stage completes. */
    @JvmStatic
    @JvmOverloads
    @Throws(Exception::class)
    public fun <T> measureFrameDropsStage(
        executor: Executor,
        hz: Double = 60.0,
        function: Callable<out CompletionStage<T>>,
    ): FrameDrops<T> = probed(executor, hz) { function.call().toCompletableFuture() }

    /**
     * Opens a label for the calling thread. Each stall of that thread lists the labels that were open during the stall.
     */
    @JvmStatic
    public fun mark(label: String): Mark {
        val entry = marks.open(label)
        return Mark { marks.close(entry) }
    }

    /** Runs `action` while a label is open for the calling thread. Exceptions of `action` reach the caller. */
    @JvmStatic
    public fun mark(label: String, action: Runnable) {
        mark(label).use { action.run() }
    }

    /**
     * Measures round trips from the caller to the thread of `executor` and back, and the times each way. Blocks the
     * caller. Do not call it on the executor's thread, which would wait for itself. An interrupt ends the series. The
     * report then covers the finished trips, and the caller's interrupt status stays set.
     *
     * @throws java.util.concurrent.RejectedExecutionException if the executor rejects tasks
     */
    @JvmStatic
    @JvmOverloads
    public fun ping(executor: Executor, options: PingOptions = PingOptions()): PingReport =
        pinged(answering(executor), options, sameClock = true)

    /**
     * Measures round trips to a peer that has its own clock. Every trip limits the possible offset between the two
     * clocks. The report states the one-way times and their remaining error. Otherwise it works as [ping] does.
     *
     * @throws java.util.concurrent.ExecutionException if a ping fails; its cause is the ping's failure
     */
    @JvmStatic
    @JvmOverloads
    @Throws(ExecutionException::class)
    public fun pingRemote(target: PingTarget, options: PingOptions = PingOptions()): PingReport =
        pinged(target, options, sameClock = false)

    private fun watcher(executor: Executor, options: MeterOptions, beatMs: Double, onStall: Consumer<in Stall>?) =
        Watcher(executor, options, options.beatMs ?: beatMs, marks, onStall)

    private fun <T> measured(
        executor: Executor,
        options: MeterOptions,
        call: () -> CompletableFuture<T>,
    ): Measurement<T> {
        val watcher = watcher(executor, options, MeterOptions.BEAT_MS_BRIEF, null)
        watcher.start()
        try {
            watcher.ready.get()
            val run = Run(watcher, options.label ?: "the measured function", call)
            executor.execute(run)
            val value = valueOf(run.outcome)
            Thread.sleep(Watcher.SETTLE_MS.toLong())
            watcher.stop()
            return Measurement(value, run.endMs - run.startMs, watcher.report(run.endMs))
        } finally {
            watcher.stop()
        }
    }

    private fun <T> probed(executor: Executor, hz: Double, call: () -> CompletableFuture<T>): FrameDrops<T> {
        require(hz > 0 && hz <= 1000) { "hz must be over 0, at most 1000: hz=$hz" }
        val probe = FrameProbe(executor, hz, call)
        try {
            probe.start()
            return valueOf(probe.outcome)
        } finally {
            // After an interrupt, a stage that does not complete would be probed for ever.
            probe.outcome.cancel(false)
        }
    }

    /**
     * One measured call, which runs on the watched thread. The call blocked the thread until the function returned. The
     * function's stage may complete later.
     */
    private class Run<T>(
        private val watcher: Watcher,
        private val label: String,
        private val call: () -> CompletableFuture<T>,
    ) : Runnable {
        /**
         * Completes when the function's stage has completed. Never fails: a future calls `toString` of its failure,
         * which may throw.
         */
        val outcome = CompletableFuture<Result<T>>()
        @Volatile var startMs = 0.0
        @Volatile var endMs = 0.0

        override fun run() {
            startMs = MeterClock.nowMs()
            watcher.begin(startMs)
            val called = runCatching(call)
            val returnedMs = MeterClock.nowMs()
            watcher.blocked(startMs, returnedMs, label)
            try {
                val stage = called.getOrThrow()
                val isOver = stage.isDone
                stage.whenComplete { value, failure ->
                    end(if (isOver) returnedMs else MeterClock.nowMs(), resultOf(value, failure))
                }
            } catch (thrown: Throwable) {
                // The function or a method of its stage threw. The watched thread, which belongs to the app, goes on.
                end(returnedMs, Result.failure(thrown))
            }
        }

        private fun end(atMs: Double, result: Result<T>) {
            if (outcome.isDone) return
            endMs = atMs
            watcher.end(atMs)
            outcome.complete(result)
        }
    }

    private fun <T> valueOf(outcome: CompletableFuture<Result<T>>): T = outcome.get().getOrThrow()
}

/** Returns how a stage ended, from what it passes to `whenComplete`. */
internal fun <T> resultOf(value: T, failure: Throwable?): Result<T> =
    if (failure != null) Result.failure((failure as? CompletionException)?.cause ?: failure) else Result.success(value)

/** The value of a measured function and the report of its run. */
public class Measurement<out T>
internal constructor(
    /** The function's return value, or the value of its stage. */
    public val value: T,
    /** Time from the call to the value, in ms. Equals `report.durationMs`. */
    public val runtimeMs: Double,
    public val report: StallReport,
) {
    override fun toString(): String = report.toString()
}

/**
 * An open label from [Meter.mark]. [close] ends it, and may run on any thread. A second call of [close] does nothing.
 */
public class Mark internal constructor(private val end: () -> Unit) : AutoCloseable {
    override fun close(): Unit = end()
}

/** A running watch of an event thread. Thread-safe. Does not keep a JVM alive. */
public class StallWatch internal constructor(private val watcher: Watcher) : AutoCloseable {
    private val closing = Any()
    @Volatile private var last: StallReport? = null

    /**
     * Completes when the watched thread has answered for the first time, or when the watch has ended without an answer.
     * The meter detects stalls before that, too. All readers share this future, so none can complete or cancel it.
     * `orTimeout` and `completeOnTimeout` return a future of their own. The meter's thread completes it. Code chained
     * to the future must not block that thread; use the `…Async` forms.
     */
    public val ready: CompletableFuture<Void?>
        get() = watcher.ready

    /**
     * Returns the report so far. Each call computes it from the kept stalls, in O(n log n) time, and allocates. After
     * [close], returns the final report.
     */
    public fun report(): StallReport = last ?: watcher.report(MeterClock.nowMs())

    /**
     * Starts a new run and drops all recorded stalls. The function of [MeterOptions.onStall] still receives those that
     * the meter has found. Does nothing after [close].
     */
    public fun reset() {
        if (last == null) watcher.reset(MeterClock.nowMs())
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

/**
 * Options of [Meter.watch] and [Meter.measure]. Set them before use, on one thread at a time.
 *
 * A setter throws `IllegalArgumentException` for a number out of range. The message contains the number.
 */
public class MeterOptions {
    internal var hz = 60.0
    internal var floorMs = FLOOR_MS
    internal var label: String? = null
    internal var stacks = true
    internal var beatMs: Double? = null
    internal var stallsMax = STALLS_MAX
    internal var onStall: Consumer<in Stall>? = null

    /** Sets the frame rate for hitches and estimated frames, in Hz. Default: 60. */
    public fun hz(hz: Double): MeterOptions = apply {
        require(hz > 0 && hz <= 1000) { "hz must be over 0, at most 1000: hz=$hz" }
        this.hz = hz
    }

    /** Sets the length of the shortest stall that is recorded, in ms. Default: 4 ms. */
    public fun floorMs(floorMs: Double): MeterOptions = apply {
        require(floorMs >= 1 && floorMs.isFinite()) { "floorMs must be 1 or more: floorMs=$floorMs" }
        this.floorMs = floorMs
    }

    /** Sets the name of this run in the report. */
    public fun label(label: String): MeterOptions = apply { this.label = label }

    /** Sets whether the meter samples the stack of a blocked thread. Default: true. */
    public fun stacks(stacks: Boolean): MeterOptions = apply { this.stacks = stacks }

    /**
     * Sets the time between beats, in ms. Default: 2 ms for a watch, 1 ms for a measurement. The error of a stall's
     * start is plus or minus half of this time.
     */
    public fun beatMs(beatMs: Double): MeterOptions = apply {
        require(beatMs in 1.0..1000.0) { "beatMs must be 1 to 1000: beatMs=$beatMs" }
        this.beatMs = beatMs
    }

    /**
     * Sets the maximum number of stalls that are kept. Default: 10,000. If there are more, the oldest are dropped, and
     * the report covers the time after them.
     */
    public fun stallsMax(stallsMax: Int): MeterOptions = apply {
        require(stallsMax >= 1) { "stallsMax must be 1 or more: stallsMax=$stallsMax" }
        this.stallsMax = stallsMax
    }

    /**
     * Sets a function that gets each stall of a watch, 0.1 s after the stall's end, when the cause is known. A daemon
     * thread of the watch calls it, for one stall at a time, in order. The function may be slow: the meter continues to
     * observe. At most 1,024 stalls wait for the function; further ones replace the oldest. The report has all of them.
     * [StallWatch.close] waits for the function, at most a second. Exceptions of the function go to the thread's
     * uncaught-exception handler.
     */
    public fun onStall(onStall: Consumer<in Stall>): MeterOptions = apply { this.onStall = onStall }

    internal companion object {
        /**
         * Default of `floorMs`: about a quarter of a frame at 60 Hz. A shorter stall costs no frame even at 240 Hz, and
         * hitch ratios up to 250 Hz stay exact.
         */
        const val FLOOR_MS = 4.0
        /**
         * Default of `stallsMax`. That many explained stalls take at most about 3 MB. At one stall a second, they cover
         * almost three hours.
         */
        const val STALLS_MAX = 10_000
        /**
         * Default of `beatMs` for a watch. The error of a stall's start is plus or minus 1 ms. The README states the
         * cost.
         */
        const val BEAT_MS = 2.0
        /**
         * Default of `beatMs` for a measurement, which is short. The error of a stall's start is plus or minus 0.5 ms.
         */
        const val BEAT_MS_BRIEF = 1.0
    }
}
