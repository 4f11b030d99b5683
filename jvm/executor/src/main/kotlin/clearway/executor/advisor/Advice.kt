// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.advisor

/** The kinds of advice. */
public enum class AdviceCode {
    /** Run it on the calling thread. */
    INLINE,
    /** Its tasks sleep on one of few workers, which run nothing else meanwhile. */
    BLOCKS_CPU_WORKER,
    /** Give it as many threads as pay: its tasks sleep. */
    MORE_THREADS,
    /** Give it no more threads than there are processors: its tasks do not sleep. */
    FEWER_THREADS,
    /** Nothing would be quicker by enough to matter. */
    FINE,
    /** Too little was seen. */
    TOO_EARLY;

    internal val word: String
        get() = name.lowercase().replace('_', '-')
}

/** How sure an advice is, by how many of the last bursts say the same. */
public enum class Sureness {
    /** Under 16 bursts, or a quarter of them say otherwise. */
    LOW,
    FAIR,
    /** At least 32 bursts, and 95 of 100 agree. */
    HIGH;

    internal val word: String
        get() = name.lowercase()
}

/** One advice for a site, with the numbers behind it. Immutable. */
public class Advice
internal constructor(
    public val code: AdviceCode,
    /** One sentence. */
    public val text: String,
    /** Times faster, the median of the bursts; 1 where none is promised. */
    public val factor: Double,
    /** Its quartiles. */
    public val factorLow: Double,
    public val factorHigh: Double,
    /** The last bursts that were compared, 64 at most. */
    public val bursts: Int,
    /** Those of them that say the same. */
    public val agreeing: Int,
    public val sureness: Sureness,
)

/** The statistics of one site. Immutable; times in ns. */
public class SiteAdvice
internal constructor(
    public val name: String,
    public val tasks: Long,
    public val bursts: Long,
    /** Tasks a burst, the mean of the last. */
    public val burstSize: Double,
    /** From the first task's being given to the last one's end, the mean of the last bursts. */
    public val burstNs: Double,
    /** Wall time a task. */
    public val taskNs: Double,
    /** Processor time a task; NaN where it was never read. */
    public val taskCpuNs: Double,
    /** From being given to being begun, a task. */
    public val waitNs: Double,
    /** The submitter's cost of handing a task over. */
    public val handNs: Double,
    /** The most tasks that ran at the same time. */
    public val threads: Int,
    /** Bursts in whose tasks threads slept. */
    public val sleptBursts: Long,
    /**
     * A burst of that size as predicted: on the caller's thread, by one worker a processor, by as many threads as pay.
     */
    public val inlineNs: Double,
    public val cpuPoolNs: Double,
    public val elasticNs: Double,
    /** The most important advice first; never empty. */
    public val advice: List<Advice>,
)
