// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.record

import clearway.meter.MarkShare
import clearway.meter.SourceState
import clearway.meter.Stall
import clearway.meter.StallReport
import clearway.meter.model.RunFacts
import clearway.meter.model.summarize
import java.time.Instant

/** The settings of a recorded run. */
internal class RecorderOptions(
    val label: String?,
    val hz: Double,
    val floorMs: Double,
    val stallsMax: Int,
    val sources: () -> List<SourceState>,
    /** The marks that were open between two moments, longest overlap first. */
    val marks: (Double, Double) -> List<MarkShare> = { _, _ -> emptyList() },
)

/**
 * Takes what was observed and turns it into explained stalls and a report. Touches no clock and no timer: the time
 * comes with each call, in ms on the meter's clock. Not for several threads at once; its owner locks it.
 */
internal class Recorder(private val options: RecorderOptions) {
    private var beginMs = 0.0
    private var endMs = Double.POSITIVE_INFINITY
    private var startedAt = Instant.EPOCH
    private var history = StallHistory(options.stallsMax, 0.0)
    private val pending = ArrayDeque<Found>()
    private val watcher = SpanRing<Unit>(EVIDENCE_MAX)
    private val queued = SpanRing<Unit>(EVIDENCE_MAX)
    private val ran = SpanRing<Double>(EVIDENCE_MAX)
    private val collections = SpanRing<Unit>(EVIDENCE_MAX)
    private val calls = SpanRing<String>(CALLS_MAX)
    private val stacks = SpanRing<List<String>>(EVIDENCE_MAX)

    /** A run begins. What was recorded before is forgotten; evidence stays. */
    fun begin(atMs: Double, wall: Instant) {
        beginMs = atMs
        endMs = Double.POSITIVE_INFINITY
        startedAt = wall
        history = StallHistory(options.stallsMax, atMs)
        pending.clear()
    }

    /** The run ended: what comes in later about the time before still counts, and no more of it. */
    fun end(atMs: Double) {
        endMs = atMs
    }

    fun found(stall: Found) {
        if (stall.endMs <= beginMs || stall.startMs >= endMs) return
        val cut = if (stall.endMs > endMs) stall.copy(endMs = endMs) else stall
        val last = pending.lastOrNull()
        if (cut.goesOn && last?.endMs == cut.startMs) pending[pending.lastIndex] = last.copy(endMs = cut.endMs)
        else pending += cut
    }

    /** The idle watcher was not woken between these moments although it should have been. */
    fun watcherHeld(startMs: Double, endMs: Double): Unit = watcher.add(startMs, endMs, Unit)

    /** The thread was ready to run between these moments, and the machine ran others. */
    fun queued(startMs: Double, endMs: Double): Unit = queued.add(startMs, endMs, Unit)

    /** Between these moments the thread had a core for so long. */
    fun ran(startMs: Double, endMs: Double, ms: Double): Unit = ran.add(startMs, endMs, ms)

    fun garbageCollected(startMs: Double, endMs: Double): Unit = collections.add(startMs, endMs, Unit)

    /** A sample of the thread; without frames if it was idle. */
    fun stack(atMs: Double, frames: List<String>): Unit = stacks.add(atMs, atMs, frames)

    /** A measured function ran from `startMs` to `endMs` without giving the thread back. */
    fun call(startMs: Double, endMs: Double, name: String): Unit = calls.add(startMs, endMs, name)

    /**
     * Explains every stall that ended at `untilMs` or before, for whose evidence there has been time to arrive; returns
     * them.
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

    /** The report of the run up to `atMs`. Stalls that are still to be explained carry what is known so far. */
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

    private fun explained(found: Found): PlacedStall? {
        val startMs = maxOf(found.startMs, beginMs)
        val endMs = found.endMs
        val lengthMs = endMs - startMs
        if (lengthMs < options.floorMs) return null
        // Evidence from as early as the stall may have begun; none of it can weigh more than the stall is long.
        val fromMs = minOf(startMs, maxOf(found.earliestMs, beginMs))
        val sources = options.sources()
        val noWatcher = sources.find { it.name == "watcher" }.let { if (it == null) "not started" else it.why }
        val heldMs = heldByMachineMs(fromMs, endMs)
        val queuedMs = queued.overlapMs(fromMs, endMs)
        val ranMs = ranMs(fromMs, endMs)
        val looks = stacks.during(fromMs, endMs).map { it.value }
        val unwokenMs = if (looks.isEmpty()) 0.0 else lengthMs * looks.count { it.isEmpty() } / looks.size
        val takenMs = machineMs(lengthMs, heldMs, queuedMs, bothMs(fromMs, endMs), ranMs)
        val evidence =
            Evidence(
                lengthMs,
                machineMs = minOf(lengthMs, maxOf(takenMs, unwokenMs)),
                queued = queuedMs >= heldMs,
                ranMs,
                unwokenMs,
                gcMs = minOf(lengthMs, collections.overlapMs(fromMs, endMs)),
                call = calls.during(fromMs, endMs).find { it.overlapMs(fromMs, endMs) >= lengthMs / 2 }?.value,
                gathered(looks.filter { it.isNotEmpty() }),
                options.marks(fromMs, endMs),
                noWatcher,
                gcSeen = sources.any { it.name == "garbage collection" && it.available },
            )
        val (cause, because) = causeOf(evidence)
        val stall =
            Stall(
                startMs - beginMs,
                lengthMs,
                found.errorMs,
                cause,
                because,
                evidence.machineMs,
                evidence.gcMs,
                evidence.stacks,
                evidence.marks,
            )
        return PlacedStall(startMs, endMs, stall)
    }

    /** A collection stops the watcher too, which a process of its own would not: its pauses are not the machine's. */
    private fun heldByMachineMs(fromMs: Double, untilMs: Double): Double {
        val held =
            watcher.during(fromMs, untilMs).sumOf { span ->
                val (start, end) = maxOf(fromMs, span.startMs) to minOf(untilMs, span.endMs)
                end - start - collections.overlapMs(start, end)
            }
        return held.coerceIn(0.0, untilMs - fromMs)
    }

    /** What of the time that the idle watcher was held up the thread was known to be ready and not run, too. */
    private fun bothMs(fromMs: Double, untilMs: Double): Double =
        watcher.during(fromMs, untilMs).sumOf {
            queued.overlapMs(maxOf(fromMs, it.startMs), minOf(untilMs, it.endMs)).coerceAtLeast(0.0)
        }

    /** At most: a look at the thread's clock may have come after the stall, or before. NaN where nobody looked. */
    private fun ranMs(fromMs: Double, untilMs: Double): Double {
        val spans = ran.during(fromMs, untilMs)
        if (spans.isEmpty()) return Double.NaN
        return spans.sumOf { minOf(it.value, it.overlapMs(fromMs, untilMs)) }
    }

    private companion object {
        const val HOST = "jvm"
        /** Evidence of the last few seconds; older stalls have been explained by then. */
        const val EVIDENCE_MAX = 1024
        const val CALLS_MAX = 8
    }
}
