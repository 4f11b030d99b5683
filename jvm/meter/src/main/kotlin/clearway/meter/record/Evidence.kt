// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.record

import clearway.meter.MarkShare
import clearway.meter.StackSample
import clearway.meter.StallCause
import clearway.meter.fixed

/** Everything that was observed about one stall. */
internal class Evidence(
    val lengthMs: Double,
    val machineMs: Double,
    /** The thread's own waiting says so, and not only another thread's. */
    val queued: Boolean,
    /** How long the thread had a core during it, at most; NaN where that is not known. */
    val ranMs: Double,
    /** Part of it in which the thread had nothing to do and still was not woken. */
    val unwokenMs: Double,
    val gcMs: Double,
    /** The function that `measure` ran during the whole stall. */
    val call: String?,
    val stacks: List<StackSample>,
    val marks: List<MarkShare>,
    /** Why there is no idle watcher, if there is none. */
    val noWatcher: String?,
    /** Whether garbage collections would have been seen. */
    val gcSeen: Boolean,
)

/**
 * Names the cause, or says that it is not known. A cause must account for half the stall; the machine is asked first,
 * since a thread that is not run can hold no one up, then the collector, then the app.
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
 * What the machine took of a stall: the longer of the two that can be seen of it, or both where they were at different
 * times, as far as the thread did not run. One alone is believed without asking for that: a machine that stands still
 * counts on in the clock of the thread that it ran last.
 */
internal fun machineMs(lengthMs: Double, heldMs: Double, queuedMs: Double, bothMs: Double, ranMs: Double): Double {
    val one = maxOf(heldMs, queuedMs)
    return if (ranMs.isNaN()) one else maxOf(one, minOf(heldMs + queuedMs - bothMs, lengthMs - ranMs))
}

private fun ms(value: Double) = fixed(value, 1) + " ms"
