// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

/** Cause of a stall. */
public enum class StallCause {
    /** The thread ran the app's own code, or blocked in it. */
    APP,
    /** Garbage collection took at least half of the stall. */
    GC,
    /**
     * The operating system did not run the thread. Evidence: an idle watcher thread was delayed at the same time, the
     * thread was ready without a core, or the thread was woken late.
     */
    MACHINE,
    /** No source of evidence could name a cause. [Stall.because] names the missing sources. */
    UNKNOWN;

    internal val word: String
        get() = name.lowercase()
}

/** A stack of the held thread, innermost frame first. [seen] counts the stall's samples that showed it. */
public class StackSample internal constructor(public val frames: List<String>, public val seen: Int)

/** A [Meter.mark] that was open on the watched thread during the stall, and the length of their overlap. */
public class MarkShare internal constructor(public val label: String, public val overlapMs: Double)

/** An interval in which the thread could not answer an event. Immutable. Lengths are in ms. */
public class Stall
internal constructor(
    /** Counts from the start of the run. */
    public val startMs: Double,
    public val lengthMs: Double,
    /** Error bound: the true length is within [lengthMs] plus or minus this. Depends on how the stall was detected. */
    public val errorMs: Double,
    public val cause: StallCause,
    /** The reason for [cause], as one sentence. */
    public val because: String,
    /**
     * How long the machine kept the thread from running during this stall, as far as the meter can observe it: the idle
     * watcher was delayed (garbage-collection pauses excluded), the thread was ready without a core, or it was not
     * woken.
     */
    public val machineMs: Double,
    /** How long garbage collection paused the thread during this stall. */
    public val gcMs: Double,
    /** The most frequent stack first. */
    public val stacks: List<StackSample>,
    /** The longest overlap first. */
    public val marks: List<MarkShare>,
) {
    override fun toString(): String = "${inMs(lengthMs)} at ${inMs(startMs)}: ${cause.word}: $because"
}
