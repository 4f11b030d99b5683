// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import clearway.meter.MeterOptions
import clearway.meter.SourceState
import clearway.meter.record.BeatDetector
import clearway.meter.record.Recorder
import java.util.concurrent.Executor
import java.util.concurrent.RejectedExecutionException

/** How an event thread is watched. Times in ms. */
internal class HeartOptions(val floorMs: Double, val beatMs: Double, val stacks: Boolean)

/**
 * Puts a beat into the watched thread's queue, sees when it is answered, and while it is not looks at the thread's
 * stack. One beat at a time: a stall of a second leaves one task in the queue and not five hundred.
 *
 *     heart    | tick: sends | tick: answered, sends | tick: not answered | ... looks at the stack ... | tick: answered
 *     watched  |   answers   |        held for long .......................................| answers |
 *
 * [tick] is called by one thread, which has nothing else to do, so that when *it* is late the machine is to blame. The
 * rest may be called by any. Everything that it finds goes to `recorder`, under the recorder's lock.
 */
internal class Heart(
    private val executor: Executor,
    private val options: HeartOptions,
    private val recorder: Recorder,
    private val nowMs: () -> Double,
    private val look: Look = ThreadLook,
) {
    private val detector = BeatDetector(options.floorMs)
    private var beat: Beat? = null
    private var dueMs = nowMs()
    private var answersFromMs = 0.0
    private val times = ThreadTimes(look)
    private var takenMs = nowMs()
    private var samples = 0
    private var nextSampleMs = 0.0

    /** The thread that answers; null before the first beat, or where several do. */
    @Volatile
    var thread: Thread? = null
        private set

    @Volatile private var isOneThread = true
    @Volatile private var isOpen = false
    @Volatile private var refusal: String? = null
    @Volatile private var noStacks: String? = if (options.stacks) look.whyNoStacks() else null

    /** Whether a first beat came back. */
    @Volatile
    var answered: Boolean = false
        private set

    /** Whether the executor takes no more beats: there is nothing left to watch. */
    val isRefused: Boolean
        get() = refusal != null

    private inner class Beat(val sentMs: Double, val heldMs: Double, val busyMs: Double) : Runnable {
        // Written in this order: who sees the time (volatile) sees the thread.
        var by: Thread? = null
        @Volatile var answeredMs = Double.NaN

        override fun run() {
            try {
                if (!isOpen) {
                    isOpen = true
                    times.opened()
                }
            } catch (thrown: Throwable) {
                uncaught(thrown) // The watched thread is not ours to end.
            }
            by = Thread.currentThread()
            answeredMs = nowMs()
        }
    }

    /** A run starts here. */
    fun restart(atMs: Double) {
        answersFromMs = atMs
        detector.restart(atMs)
    }

    /** The watched thread is known to have been held until `atMs`; called under the recorder's lock. */
    fun held(atMs: Double) {
        answersFromMs = atMs
        detector.held(atMs)
    }

    /** Looks, sends, samples. Returns when the next tick is due. Allocates a beat and what the executor makes of it. */
    fun tick(): Double {
        val ownWaitedMs = times.ownWaitedMs()
        val atMs = nowMs()
        val lateMs = atMs - dueMs
        val heldMs = if (lateMs > HELD_MS_MIN) lateMs else 0.0
        times.look(thread)
        val busyMs = times.busyMs
        // Not where the watched thread itself had the core that this one waited for.
        val isItsDoing = minOf(ownWaitedMs, times.newlyRanMs) >= heldMs / 2
        if (heldMs > 0 && !isItsDoing) synchronized(recorder) { recorder.watcherHeld(dueMs, atMs) }
        val sent = beat
        val isAnswered = sent != null && !sent.answeredMs.isNaN()
        if (sent != null && isAnswered) take(sent)
        if (sent == null || isAnswered) {
            send(maxOf(0.0, lateMs), if (heldMs > 0) busyMs else 0.0)
            sentSlowly(nowMs())
        } else if (options.stacks) sample(sent)
        // A late wake and the work here would lengthen every beat, and with it what the beats leave open of a stall's
        // start. A look at the stack may take longer than a beat: what is missed beyond a part of one is not made good.
        dueMs = maxOf(dueMs + options.beatMs, nowMs() + options.beatMs * BEAT_PART_MIN)
        return dueMs
    }

    private fun take(sent: Beat) {
        if (thread !== sent.by) {
            isOneThread = thread == null && isOneThread
            thread = if (isOneThread) sent.by else null
        }
        synchronized(recorder) {
            told(sent.answeredMs)
            // An answer from before the run, or from before a stall that is known otherwise, tells nothing new.
            if (sent.answeredMs >= answersFromMs) found(sent, sent.answeredMs)
        }
        answered = true
        samples = 0
        nextSampleMs = 0.0
    }

    /**
     * What the beat tells; and where the heart was kept from its core, what the thread's own clocks tell: it ran, or
     * was ready to, for that long meanwhile, and is taken to have done so in one piece, up to the beat.
     */
    private fun found(sent: Beat, answeredMs: Double) {
        val seen = detector.beat(sent.sentMs, answeredMs, sent.heldMs) ?: return
        val startMs = minOf(seen.startMs, maxOf(seen.earliestMs, sent.sentMs - sent.busyMs))
        recorder.found(seen.copy(startMs = startMs))
    }

    /**
     * How long the thread was ready and did not run since the last answer, is taken to have been just before this one.
     * How long it ran is known from one look at the clocks to the next.
     */
    private fun told(answeredMs: Double) {
        val waitedMs = times.waitedMs
        if (waitedMs > 0) recorder.queued(answeredMs - waitedMs, answeredMs)
        val lookedMs = nowMs()
        // No stall hides in less.
        val mayBeAStall = lookedMs - takenMs > options.floorMs / 2
        if (mayBeAStall && !times.ranMs.isNaN()) recorder.ran(takenMs, lookedMs, times.ranMs)
        takenMs = lookedMs
        times.restart()
    }

    private fun send(heldMs: Double, busyMs: Double) {
        beat = null
        val next = Beat(nowMs(), heldMs, busyMs)
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
     * Who is kept from its core while it sends may have the lock of the queue, and hold the watched thread up. That is
     * counted by the system, and need not be guessed from a late wake. Not where that thread had the core meanwhile.
     */
    private fun sentSlowly(untilMs: Double) {
        val tookMs = untilMs - (beat?.sentMs ?: return)
        if (tookMs < SLOW_MS_MIN) return
        val waitedMs = minOf(times.ownWaitedMs(), tookMs)
        if (waitedMs < SLOW_MS_MIN) return
        times.look(thread)
        val isItsDoing = times.newlyRanMs >= waitedMs / 2
        if (!isItsDoing) synchronized(recorder) { recorder.watcherHeld(untilMs - waitedMs, untilMs) }
    }

    /** Nothing is watched any more, because `who` threw; the report says so. */
    fun failed(who: String, thrown: Throwable) {
        refusal = "$who threw ${thrown.javaClass.name}"
        uncaught(thrown)
    }

    private fun sample(sent: Beat) {
        val atMs = nowMs()
        val watched = thread ?: return
        if (noStacks != null) return
        if (atMs - sent.sentMs < SAMPLE_AFTER_MS || atMs < nextSampleMs || samples >= SAMPLES_MAX) return
        val seen =
            try {
                look.stack(watched)
            } catch (denied: SecurityException) {
                noStacks = STACKS_FORBIDDEN
                return
            }
        samples++
        // Ever more seldom: a stall of seconds is explained by its first samples.
        nextSampleMs = atMs + SAMPLE_EVERY_MS * maxOf(1, samples shr 2)
        // Answered meanwhile: what was seen may be of what came next.
        if (sent.answeredMs.isNaN()) synchronized(recorder) { recorder.stack(atMs, seen) }
    }

    /**
     * The watch ends at `atMs`: a beat that is not answered by then shows a stall that goes on. Harmless if called
     * twice.
     */
    fun finish(atMs: Double) {
        last(atMs)
        times.close()
    }

    private fun last(atMs: Double) {
        val open = beat ?: return
        times.look(thread)
        synchronized(recorder) {
            val answeredMs = if (open.answeredMs.isNaN()) atMs else minOf(atMs, open.answeredMs)
            told(answeredMs)
            if (answeredMs >= answersFromMs) found(open, answeredMs)
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
        )
    }

    private companion object {
        /** A sound machine wakes a parked thread within a tenth of this; a later wake is news. */
        const val HELD_MS_MIN = 2.5
        /** A beat follows the one before after this part of its time at the soonest. */
        const val BEAT_PART_MIN = 0.75
        /** To put a beat into a queue takes some microseconds. */
        const val SLOW_MS_MIN = 0.5
        /** What is recorded by default is looked at once; sooner, the look itself is most of a stall. */
        const val SAMPLE_AFTER_MS = MeterOptions.FLOOR_MS
        const val SAMPLE_EVERY_MS = 10.0
        const val SAMPLES_MAX = 40
    }
}
