// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.record

import clearway.meter.MarkShare
import clearway.meter.SourceState
import clearway.meter.Stall
import clearway.meter.StallReport
import clearway.meter.model.RunFacts
import clearway.meter.model.summarize
import java.time.Instant

/** Options of a [Recorder]. */
internal class RecorderOptions(
    val label: String?,
    val hz: Double,
    val floorMs: Double,
    val stallsMax: Int,
    val sources: () -> List<SourceState>,
    /** Returns the marks that were open between two moments, the longest overlap first. */
    val marks: (Double, Double) -> List<MarkShare> = { _, _ -> emptyList() },
)

/**
 * Turns observations into explained stalls and a report. It uses no clock and no timer: each call passes the time, in
 * ms on the meter's clock. Not thread-safe: its owner must hold a lock.
 */
internal class Recorder(private val options: RecorderOptions) {
    private var beginMs = 0.0
    private var endMs = Double.POSITIVE_INFINITY
    private var startedAt = Instant.EPOCH
    private var history = StallHistory(options.stallsMax, 0.0)
    private val pending = ArrayDeque<DetectedStall>()
    private val watcher = SpanRing<Unit>(EVIDENCE_MAX)
    private val queued = SpanRing<Unit>(EVIDENCE_MAX)
    private val ran = SpanRing<Double>(EVIDENCE_MAX)
    private val collections = SpanRing<Unit>(EVIDENCE_MAX)
    /** The garbage-collection pauses of which it is not known yet whether another stall covers them. */
    private val pauses = ArrayDeque<Span<Unit>>()
    /** The thread's newest answer. The stalls before it are known. */
    private var answeredMs = Double.NEGATIVE_INFINITY
    private val calls = SpanRing<String>(CALLS_MAX)
    private val stacks = SpanRing<List<String>>(EVIDENCE_MAX)

    /** Starts a run. Drops the recorded stalls and keeps the evidence. */
    fun begin(atMs: Double, wall: Instant) {
        beginMs = atMs
        endMs = Double.POSITIVE_INFINITY
        startedAt = wall
        history = StallHistory(options.stallsMax, atMs)
        pending.clear()
        pauses.clear()
    }

    /** Ends the run at `atMs`. Later observations count only for the time before `atMs`. */
    fun end(atMs: Double) {
        endMs = atMs
    }

    /** Adds a detected stall. Cuts off the part after the end of the run. */
    fun detected(stall: DetectedStall) {
        if (stall.endMs <= beginMs || stall.startMs >= endMs) return
        val cut = if (stall.endMs > endMs) stall.copy(endMs = endMs) else stall
        val last = pending.lastOrNull()
        if (cut.continuesLast && last?.endMs == cut.startMs) pending[pending.lastIndex] = last.copy(endMs = cut.endMs)
        // The collector may tell a pause after a later stall.
        else pending.add(pending.indexOfLast { it.endMs <= cut.endMs } + 1, cut)
    }

    /** Records that the idle watcher was due to wake at `startMs` and woke at `endMs`. */
    fun watcherLate(startMs: Double, endMs: Double): Unit = watcher.add(startMs, endMs, Unit)

    /** Records that the thread was ready between these moments, while the machine ran other threads. */
    fun queued(startMs: Double, endMs: Double): Unit = queued.add(startMs, endMs, Unit)

    /** Records that the thread had a core for `ms` between these moments. */
    fun ran(startMs: Double, endMs: Double, ms: Double): Unit = ran.add(startMs, endMs, ms)

    /**
     * Records a garbage-collection pause. It is a stall also of an idle thread, for which the detector shows none,
     * because the pause stops the sender of the beats, too.
     */
    fun garbageCollected(startMs: Double, endMs: Double) {
        collections.add(startMs, endMs, Unit)
        if (endMs - startMs < options.floorMs) return
        if (pauses.size == EVIDENCE_MAX) pauses.removeFirst()
        pauses += Span(startMs, endMs, Unit)
        addPauses()
    }

    /** Records that the thread answered at `atMs`. The stalls before were passed to [detected]. */
    fun answered(atMs: Double) {
        answeredMs = atMs
        addPauses()
    }

    /** Adds the pauses before the newest answer as stalls, without the parts that other stalls cover. */
    private fun addPauses() {
        while (pauses.isNotEmpty() && pauses.first().endMs <= answeredMs) {
            val pause = pauses.removeFirst()
            // Nothing is known of the stalls that were dropped.
            var startMs = maxOf(pause.startMs, history.coveredFromMs)
            var endMs = pause.endMs
            fun leaveOut(fromMs: Double, untilMs: Double) {
                if (untilMs - fromMs < options.floorMs || fromMs >= endMs || untilMs <= startMs) return
                if (fromMs <= startMs) startMs = untilMs else endMs = fromMs
            }
            for (each in history.stalls) leaveOut(each.startMs, each.endMs)
            for (each in pending) leaveOut(each.startMs, each.endMs)
            if (endMs - startMs >= options.floorMs) detected(DetectedStall(startMs, endMs, startMs, PAUSE_ERROR_MS))
        }
    }

    /** Adds a stack sample. `frames` is empty if the thread had nothing to do. */
    fun stack(atMs: Double, frames: List<String>): Unit = stacks.add(atMs, atMs, frames)

    /** Records that a measured function ran from `startMs` to `endMs`, without returning to the thread's loop. */
    fun call(startMs: Double, endMs: Double, name: String): Unit = calls.add(startMs, endMs, name)

    /**
     * Explains and returns every stall that ended at `untilMs` or before. The caller chooses `untilMs` so that all
     * evidence has arrived.
     */
    fun explain(untilMs: Double): List<Stall> {
        val explained = ArrayList<Stall>(0)
        while (pending.isNotEmpty() && pending.first().endMs <= untilMs) {
            val placed = explained(pending.removeFirst()) ?: continue
            history.add(placed)
            explained += placed.stall
        }
        return explained
    }

    /**
     * Returns the report of the run up to `atMs`. A stall that is not explained yet is explained by the evidence so
     * far.
     */
    fun report(atMs: Double): StallReport {
        val early = pending.filter { it.endMs <= atMs }.mapNotNull { explained(it) }
        return summarize(
            RunFacts(
                HOST,
                options.label,
                startedAt.toString(),
                durationMs = maxOf(0.0, atMs - history.coveredFromMs),
                options.hz,
                options.floorMs,
                (history.stalls + early).map { it.stall },
                history.dropped,
                options.sources(),
                coveredFromMs = history.coveredFromMs - beginMs,
            )
        )
    }

    private fun explained(detected: DetectedStall): PlacedStall? {
        val startMs = maxOf(detected.startMs, beginMs)
        val endMs = detected.endMs
        val lengthMs = endMs - startMs
        if (lengthMs < options.floorMs) return null
        // Uses evidence from the stall's earliest possible start on. Each kind of evidence counts for at most the
        // stall's length.
        val fromMs = minOf(startMs, maxOf(detected.earliestMs, beginMs))
        val sources = options.sources()
        val noWatcher = sources.find { it.name == "watcher" }.let { if (it == null) "not started" else it.why }
        val watcherMs = watcherLateMs(fromMs, endMs)
        val queuedMs = queued.overlapMs(fromMs, endMs)
        val ranMs = ranMs(fromMs, endMs)
        val samples = stacks.during(fromMs, endMs).map { it.value }
        val unwokenMs = if (samples.isEmpty()) 0.0 else lengthMs * samples.count { it.isEmpty() } / samples.size
        val takenMs = machineMs(lengthMs, watcherMs, queuedMs, bothMs(fromMs, endMs), ranMs)
        val evidence =
            Evidence(
                lengthMs,
                machineMs = minOf(lengthMs, maxOf(takenMs, unwokenMs)),
                queued = queuedMs >= watcherMs,
                ranMs,
                unwokenMs,
                gcMs = minOf(lengthMs, collections.overlapMs(fromMs, endMs)),
                call = calls.during(fromMs, endMs).find { it.overlapMs(fromMs, endMs) >= lengthMs / 2 }?.value,
                gathered(samples.filter { it.isNotEmpty() }),
                options.marks(fromMs, endMs),
                noWatcher,
                gcSeen = sources.any { it.name == "garbage collection" && it.available },
            )
        val (cause, because) = causeOf(evidence)
        val stall =
            Stall(
                startMs - beginMs,
                lengthMs,
                detected.errorMs,
                cause,
                because,
                evidence.machineMs,
                evidence.gcMs,
                evidence.stacks,
                evidence.marks,
            )
        return PlacedStall(startMs, endMs, stall)
    }

    /**
     * Returns how long, in ms, the machine delayed the idle watcher. Excludes garbage-collection pauses: they stop the
     * watcher, too, because it runs in the same process.
     */
    private fun watcherLateMs(fromMs: Double, untilMs: Double): Double {
        val lateMs =
            watcher.during(fromMs, untilMs).sumOf { span ->
                val (start, end) = maxOf(fromMs, span.startMs) to minOf(untilMs, span.endMs)
                end - start - collections.overlapMs(start, end)
            }
        return lateMs.coerceIn(0.0, untilMs - fromMs)
    }

    /** Returns how long, in ms, the idle watcher was delayed while the thread was also ready without a core. */
    private fun bothMs(fromMs: Double, untilMs: Double): Double =
        watcher.during(fromMs, untilMs).sumOf {
            queued.overlapMs(maxOf(fromMs, it.startMs), minOf(untilMs, it.endMs)).coerceAtLeast(0.0)
        }

    /**
     * Returns an upper bound of the thread's run time in ms, or NaN without a reading. Readings of the thread's clock
     * may come before the stall's start or after its end.
     */
    private fun ranMs(fromMs: Double, untilMs: Double): Double {
        val spans = ran.during(fromMs, untilMs)
        if (spans.isEmpty()) return Double.NaN
        return spans.sumOf { minOf(it.value, it.overlapMs(fromMs, untilMs)) }
    }

    private companion object {
        const val HOST = "jvm"
        /**
         * Maximum number of pieces of evidence of each kind. They cover the last few seconds; older stalls are already
         * explained.
         */
        const val EVIDENCE_MAX = 1024
        const val CALLS_MAX = 8
        /** Error of a stall that is a pause, in ms. The collector rounds the pause's times to whole ms. */
        const val PAUSE_ERROR_MS = 1.0
    }
}

/** A stall and its interval on the meter's clock. */
internal class PlacedStall(val startMs: Double, val endMs: Double, val stall: Stall)

/**
 * The stalls of a run, in limited memory. If there are more than `stallsMax`, it drops and counts the oldest ones. The
 * covered time then starts after the last dropped stall, so every figure stays exact for the time that it covers.
 */
internal class StallHistory(private val stallsMax: Int, beginMs: Double) {
    private val kept = ArrayList<PlacedStall>()

    var dropped: Int = 0
        private set

    var coveredFromMs: Double = beginMs
        private set

    val stalls: List<PlacedStall>
        get() = kept

    fun add(placed: PlacedStall) {
        // The collector may tell a pause after a later stall was explained.
        kept.add(kept.indexOfLast { it.endMs <= placed.endMs } + 1, placed)
        if (kept.size <= stallsMax) return
        // Drops a quarter at a time. Dropping a single stall would move the whole list for each new stall.
        val gone = kept.subList(0, maxOf(1, stallsMax shr 2))
        dropped += gone.size
        coveredFromMs = gone.last().endMs
        gone.clear()
    }
}
