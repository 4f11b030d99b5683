// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.record

/** A detected stall: the thread did not answer from [startMs] to [endMs], on the meter's clock. */
internal data class Found(
    val startMs: Double,
    val endMs: Double,
    /** It did not begin before this; what ran since then may belong to it. */
    val earliestMs: Double,
    val errorMs: Double,
    /** Not another stall than the one that was found last and ended at [startMs]: that went on. */
    val goesOn: Boolean = false,
)

/**
 * Finds stalls from a heartbeat that another thread puts into the watched one's queue. The same rules, and held to the
 * same vectors, as TypeScript's detector for browsers.
 *
 *     sent       d0      d1      d2
 *     answered   d0      d1                       d2
 *                         |--?--|<---- stall ---->|
 *                               the stall began somewhere between d1's answer and d2's sending
 *
 * A sender that itself woke late tells how late. What kept it from waking is mostly the thread that it looks at: a
 * system with fewer free cores than threads lets the running one go on for some milliseconds. So the stall's start is
 * looked for before the moment at which the sender wanted to wake. The stated error covers all that the beats leave
 * open.
 *
 * The fastest beat so far is taken as the way itself, any more is waiting; the minimum is renewed from the last two
 * windows. Pure; not for several threads at once.
 */
internal class BeatDetector(private val floorMs: Double, private val windowBeats: Int = 5_000) {
    private var lastMs = Double.NaN
    private var heldUntilMs = Double.NaN
    private var newestLagMs = Double.POSITIVE_INFINITY
    private var olderLagMs = Double.POSITIVE_INFINITY
    private var beats = 0

    /** The fastest way of a beat; infinite before the first one. */
    val lagMinMs: Double
        get() = minOf(newestLagMs, olderLagMs)

    /** A run starts here: what was is forgotten. */
    fun restart(atMs: Double) {
        lastMs = atMs
        heldUntilMs = Double.NaN
    }

    /**
     * The thread is known to have been held until `atMs`. A beat that was due before tells for how long it still was.
     */
    fun held(atMs: Double) {
        lastMs = atMs
        heldUntilMs = atMs
    }

    /**
     * A beat that was sent at `sentMs`, `heldMs` later than the sender wanted, was answered at `atMs`. Returns the
     * stall that it ended. If the sender was held up so long that a stall could hide in it, that is returned with the
     * part of it that is known, which may be under the floor.
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
            // Sent before the last answer, and the thread was held again before it came to this one.
            if (tooShort && !isKnown) return null
            return Found(before, atMs, before, minOf(atMs - before, before - dueMs), goesOn = isKnown)
        }
        if (tooShort) return null
        val unsureMs = dueMs - before
        // A sender that wanted to wake before the last answer was not kept from it by what came after that.
        val wantedMs = if (dueMs - heldMs > before) dueMs - heldMs else dueMs
        val startMs = (before + wantedMs) / 2
        // Without lateness there was no stall, however long the sender slept.
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
