// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

/** Verdicts on a hitch ratio by the two published scales. */
public class HitchVerdicts
internal constructor(
    /** `good` up to 5 ms/s, `warning` up to 10, `critical` above 10. */
    public val strict: String,
    /** `good` up to 10 ms/s, `fair` up to 25, `poor` up to 50, `critical` above 50. */
    public val lenient: String,
)

/** Milliseconds of hitch per second of run, at [hz] frames per second. */
public class HitchReport
internal constructor(public val hz: Double, public val msPerSecond: Double, public val verdicts: HitchVerdicts)

/** Frames that fit into the run, and the frames that its stalls probably dropped. */
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

/** Probability, 0 to 1, that an event arriving at a random moment waits longer than [overMs]. */
public class WaitShare internal constructor(public val overMs: Double, public val share: Double)

/**
 * A quantile of the stall lengths. [lengthMs] is null where fewer than 20 stalls lie beyond the quantile, because the
 * sample is too small for it.
 */
public class TailQuantile internal constructor(public val quantile: Double, public val lengthMs: Double?)

/** Number of stalls with one cause, and the sum of their lengths. */
public class CauseShare
internal constructor(public val cause: StallCause, public val stalls: Int, public val totalMs: Double)

/** A source of evidence, and whether it was available here. [why] says why not. */
public class SourceState
internal constructor(public val name: String, public val available: Boolean, public val why: String? = null)

/** The second of the run with the most stalled time. It may start at any moment. */
public class WorstSecond internal constructor(public val startMs: Double, public val stalledMs: Double)

/**
 * The stalls of one run and all figures computed from them. Immutable. Every length is in milliseconds; `startMs`
 * counts from [startedAt]. [toJson] writes the format of `spec/stalls.schema.json`, which the meter of every language
 * writes.
 */
public class StallReport
internal constructor(
    /** Always `jvm` here. */
    public val host: String,
    public val label: String?,
    /** ISO 8601, UTC. */
    public val startedAt: String,
    /** T, the time that [stalls] covers. */
    public val durationMs: Double,
    /** Shortest stall that was recorded. */
    public val floorMs: Double,
    /** Every recorded stall of the covered time, in chronological order. */
    public val stalls: List<Stall>,
    /**
     * Number of stalls that were recorded, then dropped to bound the memory. The covered time starts after the last of
     * them.
     */
    public val droppedStalls: Int,
    public val longestMs: Double,
    /** Mean wait of an event that arrives at a random moment: sum of b^2 / 2T, with b the length of a stall. */
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
    /** Longest wait that an event can have had. Equals [longestMs]. */
    public val lagMaxMs: Double
        get() = longestMs

    /** Returns the report as one JSON object, without line breaks. Allocates it on each call. */
    public fun toJson(): String = jsonOf(this)

    /** Returns the report for a terminal: a sentence, the figures, and the five longest stalls with their causes. */
    override fun toString(): String = textOf(this)
}
