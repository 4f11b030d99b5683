// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

/** The causes of a stall. */
public enum class StallCause {
    /** The thread was running, or blocking in a synchronous call of, the app's own code. */
    APP,
    /** Garbage collection took most of it. */
    GC,
    /** An idle watcher thread was held up at the same time. */
    MACHINE,
    /** No source could tell; [Stall.because] says which sources were missing. */
    UNKNOWN;

    internal val word: String
        get() = name.lowercase()
}

/**
 * A stack that the watcher saw while the thread was held, innermost frame first; [seen] samples of the stall showed it.
 */
public class StackSample internal constructor(public val frames: List<String>, public val seen: Int)

/** A [Meter.mark] that was open on the watched thread during the stall, and for how much of it. */
public class MarkShare internal constructor(public val label: String, public val overlapMs: Double)

/** An interval in which the thread could not answer an event. Immutable; lengths in ms. */
public class Stall
internal constructor(
    /** Since the start of the run. */
    public val startMs: Double,
    public val lengthMs: Double,
    /** The true length lies within [lengthMs] plus or minus this, by the way it was detected. */
    public val errorMs: Double,
    public val cause: StallCause,
    /** One sentence: why this cause. */
    public val because: String,
    /**
     * How long the machine kept the thread from running during this stall, as far as can be seen: the idle watcher was
     * held up, the collector's pauses left out; or the thread was ready and not run; or it was not woken.
     */
    public val machineMs: Double,
    /** How long garbage collection paused the thread during this stall. */
    public val gcMs: Double,
    /** Most often seen first. */
    public val stacks: List<StackSample>,
    /** Longest overlap first. */
    public val marks: List<MarkShare>,
) {
    override fun toString(): String = "${inMs(lengthMs)} at ${inMs(startMs)}: ${cause.word}: $because"
}
