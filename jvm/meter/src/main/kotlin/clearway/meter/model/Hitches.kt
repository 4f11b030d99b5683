// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.model

import clearway.meter.HitchVerdicts

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
