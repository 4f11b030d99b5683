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

/**
 * How long an event thread was held, by what. The thread is named by an `Executor` that runs tasks on it, in order:
 * `SwingUtilities::invokeLater`, an event loop, a single-thread executor. For any thread. Knows nothing of the rest of
 * Clearway and can be used without it.
 */
public object Meter {
    private val marks = Marks(MeterClock::nowMs)

    /**
     * Watches until it is closed. Returns at once; the first beat is answered when the thread gets to it. Starts a
     * daemon thread, which puts a task of some 0.1 us into `executor` 500 times a second unless told otherwise. What
     * that costs is in the README.
     */
    @JvmStatic
    @JvmOverloads
    public fun watch(executor: Executor, options: MeterOptions = MeterOptions()): StallWatch {
        val onStall = options.onStall
        val watcher = watcher(executor, options, MeterOptions.BEAT_MS) { onStall?.accept(it) }
        watcher.start()
        return StallWatch(watcher)
    }

    /**
     * Runs `function` once on the thread of `executor` and reports what it did to it: a function that blocks for 100 ms
     * is one stall of 100 ms. Blocks the caller until it has run, and 0.1 s for late evidence; that is not counted.
     *
     * Not from the watched thread itself, which would wait for itself. An interrupt of the caller ends the wait, and
     * not the function.
     *
     * @throws Exception what the function threw, the same object
     * @throws java.util.concurrent.RejectedExecutionException if the executor takes no tasks
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
     * As [measure], for a function that gives the thread back before it is done: until its stage ends, everything on
     * the thread counts, also what runs besides.
     */
    @JvmStatic
    @JvmOverloads
    @Throws(Exception::class)
    public fun <T> measureStage(
        executor: Executor,
        options: MeterOptions = MeterOptions(),
        function: Callable<out CompletionStage<T>>,
    ): Measurement<T> = measured(executor, options) { function.call().toCompletableFuture() }

    /** Labels what runs on the calling thread from now on, so that stalls in this time name it, until it is closed. */
    @JvmStatic
    public fun mark(label: String): Mark {
        val entry = marks.open(label)
        return Mark { marks.close(entry) }
    }

    /** Labels the run of `action` on the calling thread. Its exceptions go through. */
    @JvmStatic
    public fun mark(label: String, action: Runnable) {
        mark(label).use { action.run() }
    }

    /**
     * How long a task takes to the thread of `executor` and its end back here, and each way. Blocks the caller, which
     * is not that thread: it would wait for itself. An interrupt ends the series; what was measured is reported, and
     * the interrupt stands.
     *
     * @throws java.util.concurrent.RejectedExecutionException if the executor takes no tasks
     */
    @JvmStatic
    @JvmOverloads
    public fun ping(executor: Executor, options: PingOptions = PingOptions()): PingReport =
        pinged(answering(executor), options, sameClock = true)

    /**
     * As [ping], for a far side with a clock of its own: the clocks' offset is bounded by every trip, and one-way times
     * come with what that leaves open.
     *
     * @throws java.util.concurrent.ExecutionException with the failure of a ping as its cause
     */
    @JvmStatic
    @JvmOverloads
    @Throws(ExecutionException::class)
    public fun pingRemote(target: PingTarget, options: PingOptions = PingOptions()): PingReport =
        pinged(target, options, sameClock = false)

    private fun watcher(executor: Executor, options: MeterOptions, beatMs: Double, onStall: (Stall) -> Unit) =
        Watcher(executor, options, options.beatMs ?: beatMs, marks, onStall)

    private fun <T> measured(
        executor: Executor,
        options: MeterOptions,
        call: () -> CompletableFuture<T>,
    ): Measurement<T> {
        val watcher = watcher(executor, options, MeterOptions.BEAT_MS_BRIEF) {}
        watcher.start()
        try {
            watcher.ready.get()
            val run = Run(watcher, options.label ?: "the measured function", call)
            executor.execute(run)
            val value = thrown(run.value)
            Thread.sleep(Watcher.SETTLE_MS.toLong())
            watcher.stop()
            return Measurement(value, run.endMs - run.startMs, watcher.report(run.endMs))
        } finally {
            watcher.stop()
        }
    }

    /** One measured call, on the watched thread. Only the part up to its return is known to have held the thread. */
    private class Run<T>(
        private val watcher: Watcher,
        private val label: String,
        private val call: () -> CompletableFuture<T>,
    ) : Runnable {
        val value = CompletableFuture<T>()
        @Volatile var startMs = 0.0
        @Volatile var endMs = 0.0

        override fun run() {
            startMs = MeterClock.nowMs()
            watcher.begin(startMs)
            val stage =
                try {
                    call()
                } catch (failure: Throwable) {
                    CompletableFuture.failedFuture(failure)
                }
            val returnedMs = MeterClock.nowMs()
            watcher.held(startMs, returnedMs, label)
            val isOver = stage.isDone
            stage.whenComplete { result, failure ->
                endMs = if (isOver) returnedMs else MeterClock.nowMs()
                watcher.end(endMs)
                if (failure != null) value.completeExceptionally(failure) else value.complete(result)
            }
        }
    }

    private fun <T> thrown(future: CompletableFuture<T>): T {
        try {
            return future.get()
        } catch (failed: ExecutionException) {
            val cause = failed.cause ?: failed
            throw (cause as? CompletionException)?.cause ?: cause
        }
    }
}
