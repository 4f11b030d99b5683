// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.model

import clearway.meter.CauseShare
import clearway.meter.FrameReport
import clearway.meter.HitchReport
import clearway.meter.HitchVerdicts
import clearway.meter.SourceState
import clearway.meter.Stall
import clearway.meter.StallCause
import clearway.meter.StallReport
import clearway.meter.TailQuantile
import clearway.meter.WaitShare
import clearway.meter.WorstSecond

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
        ownLongestMs = run.stalls.maxOfOrNull(::ownMs) ?: 0.0,
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

/** The part of a stall for which the app is responsible. */
private fun ownMs(stall: Stall) =
    if (stall.cause == StallCause.MACHINE) stall.lengthMs - stall.machineMs else stall.lengthMs

private fun share(cause: StallCause, stalls: List<Stall>): CauseShare? {
    val those = stalls.filter { it.cause == cause }
    return if (those.isEmpty()) null else CauseShare(cause, those.size, those.sumOf { it.lengthMs }, longestOf(those))
}

private fun longestOf(stalls: List<Stall>): Double = stalls.maxOfOrNull { it.lengthMs } ?: 0.0

/**
 * Minimum number of samples that must lie beyond a quantile. With fewer, the quantile depends more on chance than on
 * the app.
 */
internal const val SAMPLES_BEYOND_MIN: Int = 20

private val QUANTILES = doubleArrayOf(0.5, 0.9, 0.99, 0.999)

/** Returns the nearest-rank quantile of an ascending list, or null if the list is too short for it. */
internal fun quantile(sorted: DoubleArray, q: Double): Double? {
    // The term 1e-9 compensates for the rounding of 1 - q: 200 * (1 - 0.9) is 19.999999999999996.
    if (sorted.size * (1 - q) + 1e-9 < SAMPLES_BEYOND_MIN) return null
    return sorted[maxOf(0, Math.ceil(sorted.size * q - 1e-9).toInt() - 1)]
}

/** Returns the quantiles of the stall lengths. */
internal fun tail(lengthsMs: DoubleArray): List<TailQuantile> {
    val sorted = lengthsMs.sortedArray()
    return QUANTILES.map { TailQuantile(it, quantile(sorted, it)) }
}

/**
 * Returns the probability, from 0 to 1, that an event at a random moment of the run waits longer than `overMs`.
 *
 * The result is exact, not sampled. Let b be the length of a stall. An event waits longer than x if it arrives more
 * than x before the end of a stall. These moments add up to the sum of max(0, b - x) over all stalls. Stalls shorter
 * than the option `floorMs` are not recorded, so the result is a lower bound if `overMs` is below that option.
 */
internal fun waitProbability(lengthsMs: DoubleArray, durationMs: Double, overMs: Double): Double {
    if (durationMs <= 0) return 0.0
    return minOf(1.0, lengthsMs.sumOf { maxOf(0.0, it - overMs) } / durationMs)
}

/**
 * Returns the mean wait of an event that arrives at a random moment: the sum of b^2 / 2T over all stalls. T is the
 * length of the run. The event meets a stall of length b with probability b / T, and then waits b / 2 on average.
 * Stalls that are too short to be recorded add at most half the option `floorMs` to the true mean.
 */
internal fun lagMean(lengthsMs: DoubleArray, durationMs: Double): Double {
    if (durationMs <= 0) return 0.0
    return lengthsMs.sumOf { it * it } / (2 * durationMs)
}

/**
 * Returns the hitch ratio: the time, in ms per second of the run, by which frames are late. A stall of length b makes a
 * frame late by max(0, b - 1000/F), where F is `hz`. The ratio is the sum over all stalls, divided by the length of the
 * run.
 */
internal fun hitchRatio(lengthsMs: DoubleArray, durationMs: Double, hz: Double): Double {
    if (durationMs <= 0) return 0.0
    val frameMs = 1000 / hz
    return lengthsMs.sumOf { maxOf(0.0, it - frameMs) } / durationMs * 1000
}

/**
 * Returns the verdicts on a hitch ratio, by the two published scales. The strict limits are 5 and 10 ms/s, from Apple's
 * Xcode Organizer and WWDC 2020 session 10077. The lenient limits are the newer 10, 25 and 50 ms/s.
 */
internal fun hitchVerdicts(msPerSecond: Double): HitchVerdicts =
    HitchVerdicts(
        strict = if (msPerSecond <= 5) "good" else if (msPerSecond <= 10) "warning" else "critical",
        lenient =
            if (msPerSecond <= 10) "good"
            else if (msPerSecond <= 25) "fair" else if (msPerSecond <= 50) "poor" else "critical",
    )

/**
 * Returns the number of frames that stalls drop at `hz`, on average. P is the duration of a frame. A stall of length b
 * covers b / P frames, on average over all phases. The last of these frames is late but not lost, so b / P - 1 frames
 * are lost.
 */
internal fun expectedDroppedFrames(lengthsMs: DoubleArray, hz: Double): Long {
    val frameMs = 1000 / hz
    return Math.round(lengthsMs.sumOf { maxOf(0.0, it / frameMs - 1) })
}

/**
 * Returns the second of the run with the most stalled time. It may start at any moment, not only on a whole second. As
 * the window slides, its stalled time changes slope only when an edge of the window meets an edge of a stall. So in the
 * worst second, the window starts where a stall starts, or ends where a stall ends.
 *
 * The stalls must be in order and must not overlap. The run lasts from [fromMs] to [untilMs]. Takes O(n log n) time.
 */
internal fun worstSecond(startsMs: DoubleArray, lengthsMs: DoubleArray, untilMs: Double, fromMs: Double): WorstSecond {
    val ends = DoubleArray(startsMs.size) { startsMs[it] + lengthsMs[it] }
    val before = DoubleArray(startsMs.size + 1)
    for (i in lengthsMs.indices) before[i + 1] = before[i] + lengthsMs[i]
    fun stalledUntil(atMs: Double): Double {
        var low = 0
        var high = ends.size
        while (low < high) {
            val middle = (low + high) ushr 1
            if (ends[middle] <= atMs) low = middle + 1 else high = middle
        }
        return before[low] + if (low < ends.size) maxOf(0.0, atMs - startsMs[low]) else 0.0
    }
    val lastStartMs = maxOf(fromMs, untilMs - WINDOW_MS)
    var worst = WorstSecond(fromMs, 0.0)
    for (i in ends.indices) {
        for (candidate in doubleArrayOf(startsMs[i], ends[i] - WINDOW_MS)) {
            val startMs = minOf(maxOf(fromMs, candidate), lastStartMs)
            val stalledMs = stalledUntil(startMs + WINDOW_MS) - stalledUntil(startMs)
            if (stalledMs > worst.stalledMs) worst = WorstSecond(startMs, stalledMs)
        }
    }
    return worst
}

private const val WINDOW_MS = 1000.0

/** One round trip. `sentMs` and `backMs` are on our clock, `remoteMs` is on the peer's clock. */
internal class TimedTrip(val sentMs: Double, val remoteMs: Double, val backMs: Double)

/** The peer's clock minus our clock, and the error bound of that offset. */
internal class ClockOffset(val offsetMs: Double, val errorMs: Double)

/**
 * Returns the offset between the clocks, or null without a trip. The peer read its clock between the sending and the
 * return of the ping. So each trip limits the offset to the interval from `remote - back` to `remote - sent`. The
 * offset is in the intersection of all intervals. Returns the midpoint of the intersection, and half its width as the
 * error. An empty intersection means that the clocks drifted during the series. The fastest trip alone then counts.
 */
internal fun bestOffset(trips: List<TimedTrip>): ClockOffset? {
    val fastest = trips.minByOrNull { it.backMs - it.sentMs } ?: return null
    var low = trips.maxOf { it.remoteMs - it.backMs }
    var high = trips.minOf { it.remoteMs - it.sentMs }
    if (low > high) {
        low = fastest.remoteMs - fastest.backMs
        high = fastest.remoteMs - fastest.sentMs
    }
    return ClockOffset((low + high) / 2, (high - low) / 2)
}
