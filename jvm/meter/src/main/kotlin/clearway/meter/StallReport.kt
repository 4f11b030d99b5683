// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

/** Verdicts on a hitch ratio, by the two published scales. */
public class HitchVerdicts
internal constructor(
    /** `good` up to 5 ms/s, `warning` up to 10, and `critical` above 10. */
    public val strict: String,
    /** `good` up to 10 ms/s, `fair` up to 25, `poor` up to 50, and `critical` above 50. */
    public val lenient: String,
)

/** The hitch ratio: milliseconds of hitch per second of run, at [hz] frames per second. */
public class HitchReport
internal constructor(public val hz: Double, public val msPerSecond: Double, public val verdicts: HitchVerdicts)

/** The number of frames that fit into the run, and the number that its stalls probably dropped. */
public class FrameReport
internal constructor(
    public val hz: Double,
    public val expected: Long,
    public val dropped: Long,
    /**
     * Always true on the JVM, which cannot observe the display's frames. The meter computes [dropped] from the stalls.
     */
    public val estimated: Boolean,
)

/** Probability, from 0 to 1, that an event at a random moment waits longer than [overMs]. */
public class WaitShare internal constructor(public val overMs: Double, public val share: Double)

/**
 * A quantile of the stall lengths. [lengthMs] is null if fewer than 20 stalls lie beyond the quantile, because the
 * sample is then too small.
 */
public class TailQuantile internal constructor(public val quantile: Double, public val lengthMs: Double?)

/** Number of stalls with one cause, and the sum of their lengths. */
public class CauseShare
internal constructor(
    public val cause: StallCause,
    public val stalls: Int,
    public val totalMs: Double,
    public val longestMs: Double,
)

/**
 * A source of evidence about stalls, such as the garbage collector's reports, and whether it was available here. If it
 * was not, [why] gives the reason.
 */
public class SourceState
internal constructor(public val name: String, public val available: Boolean, public val why: String? = null)

/** The second of the run with the most stalled time. It may start at any moment. */
public class WorstSecond internal constructor(public val startMs: Double, public val stalledMs: Double)

/**
 * The stalls of one run, and all figures that are computed from them. Immutable. Every length is in milliseconds;
 * `startMs` counts from [startedAt]. [toJson] writes the format of `spec/stalls.schema.json`, which the meters of all
 * languages write.
 */
public class StallReport
internal constructor(
    /** The kind of host. Always `jvm` here. */
    public val host: String,
    public val label: String?,
    /** Start of the run, in ISO 8601, UTC. */
    public val startedAt: String,
    /** Length of the time that [stalls] covers. Called T below. */
    public val durationMs: Double,
    /** Length of the shortest stall that is recorded. */
    public val floorMs: Double,
    /** Every recorded stall of the covered time, in chronological order. */
    public val stalls: List<Stall>,
    /**
     * Number of stalls that were recorded and later dropped, to limit the memory. The covered time starts after the
     * last of them.
     */
    public val droppedStalls: Int,
    public val longestMs: Double,
    /**
     * The longest stall for which the app is responsible. Of a stall that the machine caused, it counts the time
     * without `machineMs`.
     */
    public val ownLongestMs: Double,
    /**
     * Mean wait of an event that arrives at a random moment: the sum of b^2 / 2T over all stalls. b is the length of a
     * stall.
     */
    public val lagMeanMs: Double,
    /** Sum of all stall lengths. */
    public val stalledMs: Double,
    public val stallsPerMinute: Double,
    public val waits: List<WaitShare>,
    public val hitch: HitchReport,
    public val frames: FrameReport,
    public val worstSecond: WorstSecond,
    public val tail: List<TailQuantile>,
    public val causes: List<CauseShare>,
    public val sources: List<SourceState>,
    internal val hiddenMs: Double = 0.0,
) {
    /** Longest possible wait of an event. Equals [longestMs]. */
    public val lagMaxMs: Double
        get() = longestMs

    /** Returns the report as one JSON object, without line breaks. Allocates on each call. */
    public fun toJson(): String = jsonOf(this)

    /**
     * Returns the report as text for a terminal: a sentence, the figures, and the five longest stalls with their
     * causes.
     */
    override fun toString(): String = textOf(this)
}

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
