// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.model

import clearway.meter.CauseShare
import clearway.meter.FrameReport
import clearway.meter.HitchReport
import clearway.meter.SourceState
import clearway.meter.Stall
import clearway.meter.StallCause
import clearway.meter.StallReport
import clearway.meter.WaitShare

/** The inputs for a run's report. */
internal class RunFacts(
    val host: String,
    val label: String?,
    val startedAt: String,
    val durationMs: Double,
    val hz: Double,
    val floorMs: Double,
    val stalls: List<Stall>,
    val droppedStalls: Int,
    val sources: List<SourceState>,
    /** Start of the covered time, counted from the start of the run. 0 unless stalls were dropped. */
    val coveredFromMs: Double = 0.0,
)

/**
 * Waits that people notice or plan for, in ms: a frame at 120 Hz and at 60 Hz, then 50, 100 (the limit of "instant"),
 * 250 and 1000.
 */
private val WAITS_OVER_MS = doubleArrayOf(1000.0 / 120, 1000.0 / 60, 50.0, 100.0, 250.0, 1000.0)

/** Computes a run's report. Reads no clock. */
internal fun summarize(run: RunFacts): StallReport {
    val lengths = DoubleArray(run.stalls.size) { run.stalls[it].lengthMs }
    val starts = DoubleArray(run.stalls.size) { run.stalls[it].startMs }
    val ratio = hitchRatio(lengths, run.durationMs, run.hz)
    return StallReport(
        host = run.host,
        label = run.label,
        startedAt = run.startedAt,
        durationMs = run.durationMs,
        floorMs = run.floorMs,
        stalls = run.stalls,
        droppedStalls = run.droppedStalls,
        longestMs = lengths.maxOrNull() ?: 0.0,
        ownLongestMs = longestOf(run.stalls.filter { it.cause != StallCause.MACHINE }),
        lagMeanMs = lagMean(lengths, run.durationMs),
        stalledMs = lengths.sum(),
        stallsPerMinute = if (run.durationMs > 0) lengths.size / run.durationMs * 60_000 else 0.0,
        waits = WAITS_OVER_MS.map { WaitShare(it, waitProbability(lengths, run.durationMs, it)) },
        hitch = HitchReport(run.hz, ratio, hitchVerdicts(ratio)),
        frames =
            FrameReport(
                run.hz,
                expected = Math.round(run.durationMs * run.hz / 1000),
                dropped = expectedDroppedFrames(lengths, run.hz),
                estimated = true,
            ),
        worstSecond = worstSecond(starts, lengths, run.coveredFromMs + run.durationMs, run.coveredFromMs),
        tail = tail(lengths),
        causes = StallCause.entries.mapNotNull { share(it, run.stalls) },
        sources = run.sources,
    )
}

private fun share(cause: StallCause, stalls: List<Stall>): CauseShare? {
    val those = stalls.filter { it.cause == cause }
    return if (those.isEmpty()) null else CauseShare(cause, those.size, those.sumOf { it.lengthMs }, longestOf(those))
}

private fun longestOf(stalls: List<Stall>): Double = stalls.maxOfOrNull { it.lengthMs } ?: 0.0
