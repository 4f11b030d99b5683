// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.record

/** A detected stall: the thread could not answer from [startMs] to [endMs], on the meter's clock. */
internal data class Found(
    val startMs: Double,
    val endMs: Double,
    /** Earliest possible start. Evidence from then on may belong to this stall. */
    val earliestMs: Double,
    val errorMs: Double,
    /** Whether this continues the stall that was found last and ended at [startMs]. */
    val goesOn: Boolean = false,
)

/**
 * Finds stalls from a heartbeat that another thread puts into the watched thread's queue. Follows the same rules and
 * the same vectors as TypeScript's detector for browsers.
 *
 *     sent       d0      d1      d2
 *     answered   d0      d1                       d2
 *                         |--?--|<---- stall ---->|
 *                               the stall began somewhere between d1's answer and d2's sending
 *
 * A sender that woke late says how late. The usual reason is the watched thread itself: a system with fewer free cores
 * than threads lets the running thread continue for some milliseconds. So the detector searches for the stall's start
 * before the moment at which the sender wanted to wake. The stated error covers everything that the beats leave open.
 *
 * The fastest beat so far counts as the latency of the way itself; any excess is waiting. The minimum comes from the
 * last two windows of beats. Pure. For one thread at a time.
 */
internal class BeatDetector(private val floorMs: Double, private val windowBeats: Int = 5_000) {
    private var lastMs = Double.NaN
    private var heldUntilMs = Double.NaN
    private var newestLagMs = Double.POSITIVE_INFINITY
    private var olderLagMs = Double.POSITIVE_INFINITY
    private var beats = 0

    /** Lowest latency of a beat. Infinite before the first beat. */
    val lagMinMs: Double
        get() = minOf(newestLagMs, olderLagMs)

    /** Starts a run and forgets the last answer. */
    fun restart(atMs: Double) {
        lastMs = atMs
        heldUntilMs = Double.NaN
    }

    /**
     * The thread is known to have been held until `atMs`. A beat that was due before `atMs` then shows how long the
     * stall continued.
     */
    fun held(atMs: Double) {
        lastMs = atMs
        heldUntilMs = atMs
    }

    /**
     * Handles a beat that was sent at `sentMs`, `heldMs` later than the sender wanted, and answered at `atMs`. Returns
     * the stall that the answer ended. If the sender was late by enough to miss a stall, returns the known part of that
     * stall, which may be shorter than the floor.
     */
    fun beat(sentMs: Double, atMs: Double, heldMs: Double = 0.0): Found? {
        renew(atMs - sentMs)
        val before = lastMs
        val isKnown = heldUntilMs == before
        lastMs = atMs
        if (before.isNaN()) return null
        heldUntilMs = Double.NaN
        val dueMs = sentMs + lagMinMs
        val tooShort = atMs - before < floorMs
        if (dueMs <= before) {
            // This beat was sent before the last answer, and the thread was held again before it answered this one.
            if (tooShort && !isKnown) return null
            return Found(before, atMs, before, minOf(atMs - before, before - dueMs), goesOn = isKnown)
        }
        if (tooShort) return null
        val unsureMs = dueMs - before
        // If the sender wanted to wake before the last answer, later work of the thread did not delay it.
        val wantedMs = if (dueMs - heldMs > before) dueMs - heldMs else dueMs
        val startMs = (before + wantedMs) / 2
        // A beat without lateness shows no stall, however long the sender slept.
        if (atMs - dueMs > unsureMs / 4 && atMs - startMs >= floorMs) {
            return Found(startMs, atMs, before, maxOf(startMs - before, dueMs - startMs))
        }
        return if (heldMs > 0) Found(dueMs, atMs, before, unsureMs) else null
    }

    private fun renew(lagMs: Double) {
        beats++
        if (beats % windowBeats == 0) {
            olderLagMs = newestLagMs
            newestLagMs = lagMs
        } else if (lagMs < newestLagMs) newestLagMs = lagMs
    }
}
