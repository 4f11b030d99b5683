// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

/** Both published readings of a hitch ratio, in words. */
public class HitchVerdicts
internal constructor(
    /** 5 ms/s and under `good`, to 10 `warning`, over 10 `critical`. */
    public val strict: String,
    /** 10 ms/s and under `good`, to 25 `fair`, to 50 `poor`, over 50 `critical`. */
    public val lenient: String,
)

/** Milliseconds of hitch per second of run, at [hz] frames a second. */
public class HitchReport
internal constructor(public val hz: Double, public val msPerSecond: Double, public val verdicts: HitchVerdicts)

/** Frames that the run had room for and those that its stalls are expected to have cost. */
public class FrameReport
internal constructor(
    public val hz: Double,
    public val expected: Long,
    public val dropped: Long,
    /** Always true on the JVM, which does not show the display's frames: computed from the stalls. */
    public val estimated: Boolean,
)

/** Probability, 0 to 1, that an event arriving at a random moment waits longer than [overMs]. */
public class WaitShare internal constructor(public val overMs: Double, public val share: Double)

/** [lengthMs] is null where fewer than 20 stalls lie beyond this quantile: the sample cannot carry it. */
public class TailQuantile internal constructor(public val quantile: Double, public val lengthMs: Double?)

/** How many stalls one cause made, and their lengths together. */
public class CauseShare
internal constructor(public val cause: StallCause, public val stalls: Int, public val totalMs: Double)

/** A source of evidence, and whether it could be had here; [why] not, where it could not. */
public class SourceState
internal constructor(public val name: String, public val available: Boolean, public val why: String? = null)

/** The second of the run that was stalled most; it may begin anywhere. */
public class WorstSecond internal constructor(public val startMs: Double, public val stalledMs: Double)

/**
 * One run's stalls and everything computed from them. Immutable. Every length is in milliseconds; `startMs` counts from
 * [startedAt]. [toJson] writes the format of `spec/stalls.schema.json`, which every language's meter writes.
 */
public class StallReport
internal constructor(
    /** `jvm` here. */
    public val host: String,
    public val label: String?,
    /** ISO 8601, UTC. */
    public val startedAt: String,
    /** T: the time that [stalls] cover. */
    public val durationMs: Double,
    /** Shorter stalls are not recorded. */
    public val floorMs: Double,
    /** Every recorded stall of the covered time, in order. */
    public val stalls: List<Stall>,
    /** Recorded earlier, then dropped to keep memory bounded; the covered time starts after the last of them. */
    public val droppedStalls: Int,
    public val longestMs: Double,
    /** Mean wait of an event that arrives at a random moment: sum of b^2 / 2T. */
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
    /** Longest wait that any event could have met; the same as [longestMs]. */
    public val lagMaxMs: Double
        get() = longestMs

    /** The report as one JSON object, without line breaks. Allocates it anew on each call. */
    public fun toJson(): String = jsonOf(this)

    /** The report for a terminal: a sentence, the figures, the five longest stalls with their causes. */
    override fun toString(): String = textOf(this)
}
