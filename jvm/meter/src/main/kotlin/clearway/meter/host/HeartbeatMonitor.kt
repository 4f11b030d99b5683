// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import clearway.meter.MeterOptions
import clearway.meter.SourceState
import clearway.meter.record.BeatDetector
import clearway.meter.record.Recorder
import java.util.concurrent.Executor
import java.util.concurrent.RejectedExecutionException

/** Options of a [HeartbeatMonitor]. Times are in ms. */
internal class HeartbeatOptions(val floorMs: Double, val beatMs: Double, val stacks: Boolean)

/**
 * Puts beats into the watched thread's queue and detects that the thread does not answer them. A beat is a task that
 * records when it ran. While a beat is unanswered, the monitor samples the thread's stack. Only one beat is in the
 * queue at a time, so a stall of a second leaves one task there, not five hundred.
 *
 *     monitor  | tick: sends | tick: answered, sends | tick: not answered | ... samples the stack ...  | tick: answered
 *     watched  |   answers   |        blocked for long .......................................| answers |
 *
 * One thread calls [tick], and [waitsFrom] when it begins to wait for the next tick. While it only waits, a late tick
 * shows that the machine delayed that thread. Any thread may call the other functions, but [finish] only after the last
 * tick. The results go to `recorder`, under the recorder's lock.
 */
internal class HeartbeatMonitor(
    private val executor: Executor,
    private val options: HeartbeatOptions,
    private val recorder: Recorder,
    private val nowMs: () -> Double,
    private val observer: ThreadObserver = JvmThreadObserver,
) {
    private val detector = BeatDetector(options.floorMs)
    private var beat: Beat? = null
    private var dueMs = nowMs()
    private var idleFromMs = dueMs
    private var answersFromMs = 0.0
    private val times = ThreadTimes(observer)
    private var stepFromMs = dueMs
    private var stepCpuMs = Double.NaN
    private var run = Answers(null)
    private var recordedUntilMs = nowMs()
    private var samples = 0
    private var nextSampleMs = 0.0

    /** The thread that answers the beats. Null before the first answer, or if several threads answer. */
    @Volatile
    var thread: Thread? = null
        private set

    @Volatile private var isOneThread = true
    @Volatile private var isOpen = false
    @Volatile private var refusal: String? = null
    /** The exception that has ended the watch. Null if there is none. Only the thread that ticks uses it. */
    var failure: Throwable? = null
        private set

    @Volatile private var noStacks: String? = if (options.stacks) observer.whyNoStacks() else null

    /** Whether the first beat was answered. */
    @Volatile
    var answered: Boolean = false
        private set

    /** Whether the watch must end, because the executor rejected a beat, or because the executor or the meter threw. */
    val isRefused: Boolean
        get() = refusal != null

    private inner class Beat(val sentMs: Double, val wokeLateMs: Double, val busyMs: Double) : Runnable {
        // Written before `answeredMs`, which is volatile. A reader that sees the time also sees the thread. Pairs with
        // the reads of `answeredMs`.
        var by: Thread? = null
        @Volatile var answeredMs = Double.NaN
        /** Whether the stall that this beat shows is recorded. The recorder's lock guards it. */
        var isRecorded = false

        override fun run() {
            try {
                if (!isOpen) {
                    isOpen = true
                    times.opened()
                }
            } catch (thrown: Throwable) {
                uncaught(thrown) // A failure here must not end the watched thread, which belongs to the app.
            }
            val me = Thread.currentThread()
            val atMs = nowMs()
            by = me
            answeredMs = atMs
            run.answered(me, this, atMs)
        }
    }

    /**
     * The answers of `thread` since a run began on it. Other threads only compare `thread`. If that thread answers
     * while it is inside of a measured function, the function runs a nested event loop, for example for a modal dialog.
     */
    private inner class Answers(private val thread: Thread?) {
        var firstMs = Double.NaN
        var last: Beat? = null

        fun answered(by: Thread, beat: Beat, atMs: Double) {
            if (by !== thread) return
            if (firstMs.isNaN()) firstMs = atMs
            last = beat
        }
    }

    /** Starts a run at `atMs` on the calling thread. Call it under the recorder's lock. */
    fun restart(atMs: Double) {
        run = Answers(Thread.currentThread())
        answersFromMs = atMs
        detector.restart(atMs)
    }

    /**
     * Returns when the calling thread, which began the run, first and last answered since then. Returns null if it
     * answered no beat. Records the stall that the last of these answers shows. Call it under the recorder's lock.
     */
    fun answersOfRun(): Pair<Double, Double>? {
        val last = run.last ?: return null
        recordStall(last, last.answeredMs)
        return run.firstMs to last.answeredMs
    }

    /** Records that the watched thread was blocked until `atMs`. Call it under the recorder's lock. */
    fun blockedUntil(atMs: Double) {
        answersFromMs = atMs
        detector.blockedUntil(atMs)
    }

    /**
     * Records that the calling thread only waits for the next tick from `atMs` on. The time before is its own work: if
     * that work delays the next tick, the machine is not the cause.
     */
    fun waitsFrom(atMs: Double) {
        endStep(atMs)
        idleFromMs = atMs
    }

    /** Begins a step of this thread's own work, which waits for no lock of the app. */
    private fun beginStep() {
        stepCpuMs = observer.ownCpuMs()
        stepFromMs = nowMs()
    }

    /**
     * Records a delay by the machine if the step took much longer than this thread ran in it. A process that is stopped
     * in the middle of a step leaves no other evidence, because no tick is late. Records nothing if the watched thread
     * ran meanwhile.
     */
    private fun endStep(atMs: Double) {
        if (atMs - stepFromMs <= LATE_MS_MIN) return
        val lostMs = atMs - stepFromMs - (observer.ownCpuMs() - stepCpuMs)
        if (lostMs.isNaN() || lostMs <= LATE_MS_MIN) return
        times.readClocks(thread)
        val isItsDoing = times.newlyRanMs >= lostMs / 2
        if (!isItsDoing) synchronized(recorder) { recorder.watcherLate(atMs - lostMs, atMs) }
    }

    /**
     * Reads the clocks, and sends a beat or samples the stack. Returns the time of the next tick. Allocates a beat and
     * the executor's own objects for it.
     */
    fun tick(): Double {
        val ownWaitedMs = times.ownWaitedMs()
        beginStep()
        val atMs = stepFromMs
        val lateMs = atMs - dueMs
        val wokeLateMs = if (lateMs > LATE_MS_MIN) lateMs else 0.0
        times.readClocks(thread)
        val busyMs = times.busyMs
        val wakeMs = maxOf(dueMs, idleFromMs)
        val idleLateMs = atMs - wakeMs
        // If the watched thread itself had the core that this thread waited for, the machine is not the cause.
        val isItsDoing = minOf(ownWaitedMs, times.newlyRanMs) >= idleLateMs / 2
        if (idleLateMs > LATE_MS_MIN && !isItsDoing) synchronized(recorder) { recorder.watcherLate(wakeMs, atMs) }
        val sent = beat
        val isAnswered = sent != null && !sent.answeredMs.isNaN()
        if (sent != null && isAnswered) handleAnswer(sent)
        if (sent == null || isAnswered) {
            endStep(nowMs())
            // The executor's code may wait for a lock of the app, so it is no step.
            send(maxOf(0.0, lateMs), if (wokeLateMs > 0) busyMs else 0.0)
            sentSlowly(nowMs())
            beginStep()
        } else if (options.stacks) sample(sent)
        // Schedules from the due time. Otherwise a late wake and the work in this function would delay the next beat.
        // With longer intervals between beats, the start of a stall is less exact. A stack sample may take longer than
        // `beatMs`. The next tick then comes after `BEAT_PART_MIN` of `beatMs`, and the missed beats are skipped.
        dueMs = maxOf(dueMs + options.beatMs, nowMs() + options.beatMs * BEAT_PART_MIN)
        return dueMs
    }

    /** Handles the answer to a beat: records the stall that it shows, and prepares the next beat. */
    private fun handleAnswer(sent: Beat) {
        if (thread !== sent.by) {
            isOneThread = thread == null && isOneThread
            thread = if (isOneThread) sent.by else null
        }
        synchronized(recorder) {
            recordTimes(sent.answeredMs)
            recordStall(sent, sent.answeredMs)
            recorder.answered(sent.answeredMs)
        }
        answered = true
        samples = 0
        nextSampleMs = 0.0
    }

    /**
     * Records the stall that the beat shows, if any.
     *
     * If the monitor's thread woke late to send the beat, the stall may have begun before the start that the detector
     * found. `busyMs` then says how long the watched thread ran or was ready before the sending, by its own clocks. The
     * function assumes that this was one interval without a break, which ended with the sending. It moves the stall's
     * start back to the start of this interval, but not before `earliestMs`.
     */
    private fun recordStall(sent: Beat, answeredMs: Double) {
        // An answer from before the run, or from before a stall that is already known, adds nothing.
        if (sent.isRecorded || answeredMs < answersFromMs) return
        sent.isRecorded = true
        val seen = detector.beat(sent.sentMs, answeredMs, sent.wokeLateMs) ?: return
        val startMs = minOf(seen.startMs, maxOf(seen.earliestMs, sent.sentMs - sent.busyMs))
        recorder.detected(seen.copy(startMs = startMs))
    }

    /**
     * Records how long the thread waited for a core, and how long it ran, since the last answer. Assumes that it waited
     * right before this answer. The run time is known only for the whole interval between two readings of the clocks.
     */
    private fun recordTimes(answeredMs: Double) {
        val waitedMs = times.waitedMs
        if (waitedMs > 0) recorder.queued(answeredMs - waitedMs, answeredMs)
        val readMs = nowMs()
        // A shorter interval cannot contain a stall.
        val mayBeAStall = readMs - recordedUntilMs > options.floorMs / 2
        if (mayBeAStall && !times.ranMs.isNaN()) recorder.ran(recordedUntilMs, readMs, times.ranMs)
        recordedUntilMs = readMs
        times.restart()
    }

    private fun send(wokeLateMs: Double, busyMs: Double) {
        beat = null
        val next = Beat(nowMs(), wokeLateMs, busyMs)
        try {
            executor.execute(next)
            beat = next
        } catch (refused: RejectedExecutionException) {
            refusal = "the executor takes no more tasks: ${refused.message}"
        } catch (thrown: Throwable) {
            failed("the executor", thrown)
        }
    }

    /**
     * Records a delay by the machine if this thread lost its core while it sent the beat. This thread may then have
     * held the queue's lock and blocked the watched thread. The delay is the time that this thread waited for a core,
     * as the system counts it. It is known even if no tick is late. Records nothing if the watched thread had the core
     * meanwhile.
     */
    private fun sentSlowly(untilMs: Double) {
        val tookMs = untilMs - (beat?.sentMs ?: return)
        if (tookMs < SLOW_MS_MIN) return
        val waitedMs = minOf(times.ownWaitedMs(), tookMs)
        if (waitedMs < SLOW_MS_MIN) return
        times.readClocks(thread)
        val isItsDoing = times.newlyRanMs >= waitedMs / 2
        if (!isItsDoing) synchronized(recorder) { recorder.watcherLate(untilMs - waitedMs, untilMs) }
    }

    /** Ends the watch because `who` threw. The report names `who` and the exception's class. */
    fun failed(who: String, thrown: Throwable) {
        failure = thrown
        if (refusal == null) refusal = "$who threw ${thrown.javaClass.name}"
    }

    /** Records for the report that the thread that ticks does not end. Any thread may call it. */
    fun hangs() {
        if (refusal == null) refusal = "the executor's execute does not return"
    }

    private fun sample(sent: Beat) {
        val atMs = nowMs()
        val watched = thread ?: return
        if (noStacks != null) return
        if (atMs - sent.sentMs < SAMPLE_AFTER_MS || atMs < nextSampleMs || samples >= SAMPLES_MAX) return
        val seen =
            try {
                observer.stack(watched)
            } catch (denied: SecurityException) {
                noStacks = STACKS_FORBIDDEN
                return
            }
        samples++
        // Takes samples less often while the stall goes on, because its first samples explain it.
        nextSampleMs = atMs + SAMPLE_EVERY_MS * maxOf(1, samples shr 2)
        // Drops the sample if the beat was answered meanwhile, because the stack may belong to the next task.
        if (sent.answeredMs.isNaN()) synchronized(recorder) { recorder.stack(atMs, seen) }
    }

    /**
     * Ends the watch at `atMs`. If a beat is still unanswered, records the stall that the beat shows by then, if any. A
     * second call does nothing.
     */
    fun finish(atMs: Double) {
        finishOpenBeat(atMs)
        times.close()
    }

    private fun finishOpenBeat(atMs: Double) {
        val open = beat ?: return
        times.readClocks(thread)
        synchronized(recorder) {
            val answeredMs = if (open.answeredMs.isNaN()) atMs else minOf(atMs, open.answeredMs)
            recordTimes(answeredMs)
            recordStall(open, answeredMs)
            recorder.answered(atMs)
        }
        beat = null
    }

    fun sources(): List<SourceState> {
        val why = refusal ?: if (answered) null else "still starting"
        val noStacks =
            why
                ?: noStacks
                ?: if (!options.stacks) "turned off by the option stacks"
                else if (!isOneThread) "several threads answer; there is no one stack to look at" else null
        return listOf(
            SourceState("heartbeat", why == null, why),
            SourceState("watcher", why == null, why),
            SourceState("stacks", noStacks == null, noStacks),
            SourceState("frames", false, "the JVM does not show the display's frames"),
            SourceState("optimised code", unoptimised == null, unoptimised),
        )
    }

    private companion object {
        /**
         * A wake that is later than this, in ms, counts as a delay by the machine. A healthy machine wakes a parked
         * thread within a tenth of this.
         */
        const val LATE_MS_MIN = 2.5
        /** Shortest time between two ticks, as a part of `beatMs`. */
        const val BEAT_PART_MIN = 0.75
        /** A send that takes at least this long, in ms, counts as slow. It usually takes some microseconds. */
        const val SLOW_MS_MIN = 0.5
        /**
         * Age of an unanswered beat, in ms, at which the samples begin. It equals the default of `floorMs`, the length
         * of the shortest recorded stall. Each sample stops the watched thread. This stop could be most of a shorter
         * delay.
         */
        const val SAMPLE_AFTER_MS = MeterOptions.FLOOR_MS
        /** Time between the first samples of a stall, in ms. */
        const val SAMPLE_EVERY_MS = 10.0
        /** Maximum number of samples of one stall. */
        const val SAMPLES_MAX = 40
    }
}

/**
 * The meter's clock: monotonic, in ms, with the precision of `System.nanoTime`, and the same on all threads. Does not
 * block.
 */
internal object MeterClock {
    private val baseNs = System.nanoTime()

    fun nowMs(): Double = ofNs(System.nanoTime())

    /** Converts a reading of `System.nanoTime` to this clock. */
    fun ofNs(ns: Long): Double = (ns - baseNs) / 1e6
}
