// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

/** The cause of a stall. */
public enum class StallCause {
    /** The thread ran the app's own code, or blocked in it. */
    APP,
    /** Garbage collection took at least half of the stall. */
    GC,
    /**
     * The operating system did not run the thread. The evidence is one of three: the meter's own thread, which is
     * otherwise idle, was delayed at the same time; the thread was ready without a core; or the thread was woken late.
     */
    MACHINE,
    /** No source of evidence could name a cause. [Stall.because] names the missing sources. */
    UNKNOWN;

    internal val word: String
        get() = name.lowercase()
}

/**
 * A stack of the blocked thread, innermost frame first. [seen] is the number of the stall's samples that showed this
 * stack.
 */
public class StackSample internal constructor(public val frames: List<String>, public val seen: Int)

/**
 * A [Meter.mark] that was open on the watched thread during the stall, and the length of the overlap with the stall.
 */
public class MarkShare internal constructor(public val label: String, public val overlapMs: Double)

/** An interval in which the thread could not answer an event. Immutable. Times are in ms. */
public class Stall
internal constructor(
    /** Start of the stall, counted from the start of the run. */
    public val startMs: Double,
    public val lengthMs: Double,
    /** Error bound: the true length is [lengthMs] plus or minus this. It depends on how the stall was detected. */
    public val errorMs: Double,
    public val cause: StallCause,
    /** The reason for [cause], as one sentence. */
    public val because: String,
    /**
     * Time in which the machine kept the thread from running during this stall, as far as the meter can observe it. It
     * counts delays of the meter's own thread (without garbage-collection pauses), waits of the ready thread for a
     * core, and late wakes.
     */
    public val machineMs: Double,
    /** Time in which garbage collection paused the thread during this stall. */
    public val gcMs: Double,
    /** The sampled stacks, the most frequent first. */
    public val stacks: List<StackSample>,
    /** The marks that were open, the longest overlap first. */
    public val marks: List<MarkShare>,
) {
    override fun toString(): String = "${inMs(lengthMs)} at ${inMs(startMs)}: ${cause.word}: $because"
}
