// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import clearway.meter.MeterOptions
import clearway.meter.SourceState
import clearway.meter.Stall
import clearway.meter.StallReport
import clearway.meter.record.DetectedStall
import clearway.meter.record.Marks
import clearway.meter.record.Recorder
import clearway.meter.record.RecorderOptions
import java.lang.management.ManagementFactory
import java.security.PrivilegedAction
import java.time.Instant
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executor
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.LockSupport
import java.util.function.Consumer

/**
 * Observes one thread. It connects three parts: a daemon thread that ticks a [HeartbeatMonitor], the garbage
 * collector's notifications, and the recorder, which receives the findings of the other two. Stalls go to `onStall` on
 * another thread, because code of the app must not delay the ticks.
 */
internal class Watcher(
    executor: Executor,
    private val options: MeterOptions,
    private val beatMs: Double,
    marks: Marks,
    onStall: Consumer<in Stall>?,
    /** Maximum time in ms for which [stop] waits for the meter's thread, before and after it interrupts that thread. */
    private val stopMs: Long = STOP_MS,
) {
    private val recorder: Recorder =
        Recorder(
            RecorderOptions(
                options.label,
                options.hz,
                options.floorMs,
                options.stallsMax,
                sources = { sources() },
                marks = { fromMs, untilMs -> marks.during(monitor.thread, fromMs, untilMs) },
            )
        )
    private val monitor: HeartbeatMonitor =
        HeartbeatMonitor(
            executor,
            HeartbeatOptions(options.floorMs, beatMs, options.stacks),
            recorder,
            MeterClock::nowMs,
        )
    private val collections: Collections? = optional {
        Collections { startMs, endMs -> synchronized(recorder) { recorder.garbageCollected(startMs, endMs) } }
    }
    private val delivery = onStall?.let { StallDelivery(it) }
    @Volatile private var runStarted = Instant.EPOCH
    @Volatile private var stopped = false
    /** Whether the meter's thread did not end in time. It then finishes the monitor itself when it ends. */
    @Volatile private var hangs = false
    private val thread = ownThread("clearway-meter", ::run)
    /** Opens when the meter's thread ticks no more. */
    private val ended = CountDownLatch(1)

    /** Completes when the first beat was answered, or when the watch has ended without an answer. */
    val ready = Readiness()

    fun start() {
        begin(MeterClock.nowMs())
        try {
            thread.start()
        } catch (thrown: Throwable) {
            collections?.close() // The system cannot start a thread.
            ended.countDown()
            throw thrown
        }
    }

    private fun run() {
        try {
            watch()
        } catch (thrown: Throwable) {
            monitor.failed("the meter", thrown)
        } finally {
            ready.end()
            collections?.close()
            ended.countDown()
        }
        // If `stop` has interrupted this thread, the interrupt caused the failure.
        if (hangs) return finish(MeterClock.nowMs())
        // The handler of uncaught exceptions is code of the app and may hang, so it is called last.
        monitor.failure?.let(::uncaught)
    }

    private fun watch() {
        while (!stopped) {
            val dueMs = monitor.tick()
            if (monitor.answered || monitor.isRefused) ready.end()
            if (monitor.isRefused) break
            explain(MeterClock.nowMs() - SETTLE_MS)
            val nowMs = MeterClock.nowMs()
            monitor.waitsFrom(nowMs)
            val leftNs = ((dueMs - nowMs) * 1e6).toLong()
            if (leftNs > 0 && !stopped) LockSupport.parkNanos(leftNs)
        }
    }

    /** Starts a run at `atMs`. Stalls before `atMs` do not count. */
    fun begin(atMs: Double) {
        synchronized(recorder) {
            runStarted = Instant.now()
            recorder.begin(atMs, runStarted)
            monitor.restart(atMs)
        }
    }

    /** Explains every stall that was found, and starts a run at `atMs`. */
    fun reset(atMs: Double) {
        val started = runStarted
        val explained =
            synchronized(recorder) {
                val found = recorder.explain(atMs)
                begin(atMs)
                found
            }
        deliver(explained, started)
    }

    /**
     * Records that the calling thread, which began the run, ran `name` from `startMs` to `endMs`. It was blocked for
     * all of this time, unless it answered beats from a nested event loop. Then it was blocked before and after that
     * loop, and the beats show how it ran the loop.
     */
    fun blocked(startMs: Double, endMs: Double, name: String) {
        synchronized(recorder) {
            val answers = monitor.answersOfRun()
            if (answers != null) recorder.call(startMs, answers.first, name)
            val fromMs = answers?.second ?: startMs
            // A nested loop may have run until the next beat was due.
            val errorMs = if (answers == null) CLOCK_ERROR_MS else minOf(beatMs, endMs - fromMs)
            recorder.call(fromMs, endMs, name)
            recorder.detected(DetectedStall(fromMs, endMs, fromMs, errorMs))
            monitor.blockedUntil(endMs)
        }
    }

    /** Ends the run at `atMs`. Stalls after `atMs` do not count. */
    fun end(atMs: Double): Unit = synchronized(recorder) { recorder.end(atMs) }

    /** Explains every stall that ended by `untilMs`. Passes each of them to the flight recorder and to `onStall`. */
    fun explain(untilMs: Double) {
        deliver(synchronized(recorder) { recorder.explain(untilMs) }, runStarted)
    }

    private fun deliver(explained: List<Stall>, started: Instant) {
        for (stall in explained) {
            guarded { FlightRecording.write(stall, started, monitor.thread, options.label) }
            guarded { delivery?.add(stall) }
        }
    }

    fun report(atMs: Double): StallReport = synchronized(recorder) { recorder.report(atMs) }

    /**
     * Stops the meter's thread, and explains the remaining stalls, including one that still continues. Waits until that
     * thread has ended, which usually takes some ms. If the executor's `execute` blocks that thread, interrupts it
     * after [stopMs], and waits at most as long again. On the meter's own thread, does not wait. Returns the time of
     * the stop. A second call is harmless.
     */
    fun stop(): Double {
        stopped = true
        LockSupport.unpark(thread)
        val atMs = MeterClock.nowMs()
        if (Thread.currentThread() === thread || hasEnded()) finish(atMs)
        explain(atMs)
        return atMs
    }

    /** Finishes the monitor. The thread of the meter and another thread may call it at the same time. */
    private fun finish(atMs: Double): Unit = synchronized(ended) { monitor.finish(atMs) }

    /**
     * Waits until `onStall` has returned for all stalls, for a limited time. Call it after [stop], without a lock: the
     * function may close the watch, too.
     */
    fun finishDelivery() {
        delivery?.close()
    }

    /**
     * Waits until the meter's thread ticks no more, for a limited time. Returns whether it has ended. Until then, only
     * that thread may tick or finish the monitor.
     */
    private fun hasEnded(): Boolean {
        if (hangs) return ended.count == 0L
        if (joined()) return true
        hangs = true
        monitor.hangs()
        thread.interrupt()
        return joined()
    }

    /** Waits at most [stopMs] for the end of the meter's thread. An interrupt of the caller is kept for later. */
    private fun joined(): Boolean {
        val untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(stopMs)
        var interrupted = false
        while (ended.count > 0) {
            val leftNs = untilNs - System.nanoTime()
            if (leftNs <= 0) break
            try {
                ended.await(leftNs, TimeUnit.NANOSECONDS)
            } catch (_: InterruptedException) {
                interrupted = true
            }
        }
        if (interrupted) Thread.currentThread().interrupt()
        return ended.count == 0L
    }

    private fun sources(): List<SourceState> {
        val missing = if (collections == null) "this JVM tells nothing, or forbids to ask it" else collections.missing
        return monitor.sources() + SourceState("garbage collection", missing == null, missing)
    }

    companion object {
        /**
         * Delay between a stall's end and its explanation, in ms. In this time, the collector's notifications and the
         * last stack sample arrive.
         */
        const val SETTLE_MS: Double = 100.0
        /** Error, in ms, of a stall whose start and end were read from the clock. */
        private const val CLOCK_ERROR_MS = 0.001
        /** Default of `stopMs`: long for an executor's `execute`, short for a person who waits for a program's end. */
        private const val STOP_MS = 1_000L
    }
}

/**
 * Creates a daemon thread that keeps nothing of the thread that creates it. A thread otherwise inherits the context
 * class loader, the inheritable thread-locals, the security context and the thread group, and a server could then not
 * unload the application that happened to come first. The context class loader is the one of this library.
 */
@Suppress("DEPRECATION") // AccessController has no successor on the JDKs that have security contexts.
internal fun ownThread(name: String, run: Runnable): Thread =
    java.security.AccessController.doPrivileged(
        PrivilegedAction {
            Thread(outermostGroup(), run, name, 0, false).apply {
                isDaemon = true
                priority = Thread.NORM_PRIORITY
                use(StallDelivery::class.java.classLoader)
            }
        }
    )

private fun Thread.use(loader: ClassLoader?) {
    try {
        contextClassLoader = loader
    } catch (_: SecurityException) {
        // A security manager forbids it. The thread keeps the loader that it has.
    }
}

/** Returns the outermost thread group, which no application owns. Returns null if a security manager chooses it. */
@Suppress("DEPRECATION") // System.getSecurityManager, as above.
private fun outermostGroup(): ThreadGroup? {
    if (System.getSecurityManager() != null) return null
    var group = Thread.currentThread().threadGroup
    while (group?.parent != null) group = group.parent
    return group
}

private val tieredStop = Regex("-XX:TieredStopAtLevel=([0-3])")

/**
 * Returns why code in a JVM with these options is slower than its users' code, or null if no option says so. Java has
 * no debug builds: an option of the JVM, which development tools set, turns the optimising compiler off.
 */
internal fun unoptimised(options: List<String>): String? =
    options
        .lastOrNull { it == "-Xint" || it == "-Djava.compiler=NONE" || tieredStop.matches(it) }
        ?.let { "the JVM runs with $it, without its optimising compiler" }

/** As above, for this JVM. Null, too, if the JVM does not tell its options. */
internal val unoptimised: String? by lazy {
    try {
        unoptimised(ManagementFactory.getRuntimeMXBean().inputArguments)
    } catch (_: SecurityException) {
        null
    } catch (_: LinkageError) { // a runtime without the module java.management
        null
    }
}
