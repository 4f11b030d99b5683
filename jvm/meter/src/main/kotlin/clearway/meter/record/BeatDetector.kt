// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.record

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
