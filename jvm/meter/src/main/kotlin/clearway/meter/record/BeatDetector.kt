// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.record

import clearway.meter.MarkShare
import clearway.meter.StackSample
import clearway.meter.StallCause
import clearway.meter.fixed

/** A detected stall: the thread could not answer from [startMs] to [endMs], on the meter's clock. */
internal data class DetectedStall(
    val startMs: Double,
    val endMs: Double,
    /** Earliest possible start. Evidence after this time may belong to this stall. */
    val earliestMs: Double,
    val errorMs: Double,
    /** Whether this stall continues the stall that was found last and ended at [startMs]. */
    val continuesLast: Boolean = false,
)

/**
 * Finds stalls from beats that another thread puts into the watched thread's queue. It follows the same rules and the
 * same test vectors as TypeScript's detector for browsers.
 *
 *     sent       d0      d1      d2
 *     answered   d0      d1                       d2
 *                         |--?--|<---- stall ---->|
 *                               the stall began between d1's answer and the sending of d2
 *
 * A sender that wakes late passes its lateness to [beat]. The watched thread itself is the usual reason: if a system
 * has fewer free cores than threads, it lets the running thread continue for some ms. So the detector looks for the
 * stall's start before the time at which the sender wanted to wake. The stall's error covers everything that the beats
 * do not show.
 *
 * The fastest recent beat gives the latency of the queue itself; any longer latency includes waiting. "Recent" means
 * the last two windows of beats. The detector reads no clock. Only one thread at a time may use it.
 */
internal class BeatDetector(private val floorMs: Double, private val windowBeats: Int = 5_000) {
    private var lastMs = Double.NaN
    private var blockedUntilMs = Double.NaN
    private var newestLagMs = Double.POSITIVE_INFINITY
    private var olderLagMs = Double.POSITIVE_INFINITY
    private var beats = 0

    /** Lowest latency of the recent beats, in ms. Infinite before the first beat. */
    val lagMinMs: Double
        get() = minOf(newestLagMs, olderLagMs)

    /** Starts a run at `atMs` and forgets the last answer. */
    fun restart(atMs: Double) {
        lastMs = atMs
        blockedUntilMs = Double.NaN
    }

    /**
     * Records that the thread was blocked until `atMs`. If the next beat was due before `atMs`, it shows how long the
     * stall continued.
     */
    fun blockedUntil(atMs: Double) {
        lastMs = atMs
        blockedUntilMs = atMs
    }

    /**
     * Handles a beat that was sent at `sentMs`, `wokeLateMs` later than the sender wanted, and answered at `atMs`.
     * Returns the stall that ended with the answer, or null. If the sender was so late that it may have missed a stall,
     * returns the known part of that stall. This part may be shorter than `floorMs`.
     */
    fun beat(sentMs: Double, atMs: Double, wokeLateMs: Double = 0.0): DetectedStall? {
        renew(atMs - sentMs)
        val before = lastMs
        val isKnown = blockedUntilMs == before
        lastMs = atMs
        if (before.isNaN()) return null
        blockedUntilMs = Double.NaN
        val dueMs = sentMs + lagMinMs
        val tooShort = atMs - before < floorMs
        if (dueMs <= before) {
            // This beat was sent before the last answer, and the thread was blocked again before it answered this one.
            if (tooShort && !isKnown) return null
            return DetectedStall(before, atMs, before, minOf(atMs - before, before - dueMs), continuesLast = isKnown)
        }
        if (tooShort) return null
        val unsureMs = dueMs - before
        // If the sender wanted to wake before the last answer, later work of the thread did not delay it.
        val wantedMs = if (dueMs - wokeLateMs > before) dueMs - wokeLateMs else dueMs
        val startMs = (before + wantedMs) / 2
        // A beat without lateness shows no stall, however long the sender slept.
        if (atMs - dueMs > unsureMs / 4 && atMs - startMs >= floorMs) {
            return DetectedStall(startMs, atMs, before, maxOf(startMs - before, dueMs - startMs))
        }
        return if (wokeLateMs > 0) DetectedStall(dueMs, atMs, before, unsureMs) else null
    }

    private fun renew(lagMs: Double) {
        beats++
        if (beats % windowBeats == 0) {
            olderLagMs = newestLagMs
            newestLagMs = lagMs
        } else if (lagMs < newestLagMs) newestLagMs = lagMs
    }
}

/** All evidence about one stall. */
internal class Evidence(
    val lengthMs: Double,
    val machineMs: Double,
    /**
     * Whether the main evidence for a delay by the machine is the thread's own wait for a core. Otherwise it is the
     * delay of the idle watcher.
     */
    val queued: Boolean,
    /** Upper bound of the thread's CPU time during the stall. NaN if unknown. */
    val ranMs: Double,
    /** Part of the stall in which the thread had nothing to do and was not woken. */
    val unwokenMs: Double,
    val gcMs: Double,
    /** The function that `measure` ran for at least half of the stall, without a break. Null if there is none. */
    val call: String?,
    val stacks: List<StackSample>,
    val marks: List<MarkShare>,
    /** Why there is no idle watcher, or null if there is one. */
    val noWatcher: String?,
    /** Whether garbage collections could be observed. */
    val gcSeen: Boolean,
)

/**
 * Returns the cause and the reason for it. The machine, the collector, a measured call or a mark must account for at
 * least half of the stall. A stack needs no minimum: one sample is enough to name the app. The order of the checks is:
 * the machine (because a thread without a core can do nothing else), the collector, the app.
 */
internal fun causeOf(evidence: Evidence): Pair<StallCause, String> {
    val halfMs = evidence.lengthMs / 2
    if (evidence.unwokenMs >= halfMs) {
        return StallCause.MACHINE to "the thread had nothing to do and was woken ${ms(evidence.unwokenMs)} late"
    }
    if (evidence.machineMs >= halfMs) {
        val how = if (evidence.queued) "the thread was ready, and not run" else "an idle watcher thread was held up too"
        return StallCause.MACHINE to "$how, for ${ms(evidence.machineMs)} of it"
    }
    if (evidence.gcMs >= halfMs) return StallCause.GC to "garbage collection took ${ms(evidence.gcMs)} of it"
    if (evidence.call != null) return StallCause.APP to "${evidence.call} ran without giving the thread back"
    val frame = evidence.stacks.firstOrNull()?.frames?.firstOrNull()
    if (frame != null) return StallCause.APP to "it was seen in $frame"
    val mark = evidence.marks.firstOrNull { it.overlapMs >= halfMs }
    if (mark != null) return StallCause.APP to "it fell into the mark \"${mark.label}\""
    if (evidence.noWatcher != null) {
        return StallCause.UNKNOWN to "no idle watcher to tell the machine from the app: ${evidence.noWatcher}"
    }
    if (evidence.gcSeen && evidence.ranMs < halfMs) {
        val ran = "it ran for ${ms(evidence.ranMs)} at most, and neither the machine nor garbage collection held it"
        return StallCause.APP to "the thread waited, as for a lock: $ran"
    }
    if (evidence.gcSeen) {
        return StallCause.APP to "the thread was busy, and neither the machine nor garbage collection held it"
    }
    return StallCause.UNKNOWN to "the thread was busy; this host names no script for it and shows no collections"
}

/**
 * Returns how long, in ms, the machine kept the thread from running. Two observations show it: `watcherMs` of the idle
 * watcher and `queuedMs` of the thread itself. Both apply at the same time for `bothMs`.
 *
 * The result is the length of their union, limited to the time in which the thread did not run. The limit never makes
 * the result shorter than the longer observation. While the machine is suspended, the CPU time of the thread that ran
 * last continues to count, so the limit would be too low. If the run time is unknown, the result is the longer
 * observation.
 */
internal fun machineMs(lengthMs: Double, watcherMs: Double, queuedMs: Double, bothMs: Double, ranMs: Double): Double {
    val one = maxOf(watcherMs, queuedMs)
    return if (ranMs.isNaN()) one else maxOf(one, minOf(watcherMs + queuedMs - bothMs, lengthMs - ranMs))
}

private fun ms(value: Double) = fixed(value, 1) + " ms"

/** Maximum number of frames of a stack in a report. The handler of an event and its callers are within that depth. */
private const val FRAMES_MAX = 32

private val PLATFORM = listOf("java.", "javax.", "jdk.", "sun.", "com.sun.", "kotlin.")

/**
 * Returns the frames of a blocked thread as text, innermost first. Omits the platform's frames if the stack has frames
 * of the app. If it has none, a running thread keeps the platform's frames (a toolkit that lays out or paints). A
 * waiting thread gets an empty list, because it waits for its next event.
 */
internal fun frames(stack: Array<StackTraceElement>, isRunning: Boolean): List<String> {
    val app = stack.filter { frame -> PLATFORM.none { frame.className.startsWith(it) } }
    val shown = app.ifEmpty { if (isRunning) stack.toList() else emptyList() }
    return shown.take(FRAMES_MAX).map { "${it.className}.${it.methodName}(${place(it)})" }
}

private fun place(frame: StackTraceElement): String =
    when {
        frame.isNativeMethod -> "native"
        frame.fileName == null -> "unknown source"
        frame.lineNumber < 0 -> frame.fileName.orEmpty()
        else -> "${frame.fileName}:${frame.lineNumber}"
    }

/** Groups equal stacks. The most frequent stack comes first. */
internal fun gathered(samples: List<List<String>>): List<StackSample> =
    samples
        .groupingBy { it }
        .eachCount()
        .map { (frames, seen) -> StackSample(frames, seen) }
        .sortedByDescending { it.seen }
