// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.advisor

/** Kinds of advice for a site (one kind of work). */
public enum class AdviceCode {
    /** Run the site's work on the calling thread. */
    INLINE,
    /** The site's tasks sleep, and the pool has few workers. While a task sleeps, its worker runs nothing else. */
    BLOCKS_CPU_WORKER,
    /** Use more threads, as long as each makes the work faster, because the site's tasks sleep. */
    MORE_THREADS,
    /** Use no more threads than processors, because the site's tasks do not sleep. */
    FEWER_THREADS,
    /** Change nothing: no other place would be faster by enough to matter. */
    FINE,
    /** Too few bursts were observed. */
    TOO_EARLY;

    internal val word: String
        get() = name.lowercase().replace('_', '-')
}

/** Confidence in a piece of advice: how many of the last bursts agree with it. */
public enum class Sureness {
    /** Fewer than 16 bursts, or fewer than three quarters agree. */
    LOW,
    /** Every case between [LOW] and [HIGH]. */
    FAIR,
    /** At least 32 bursts, of which 95 % agree. */
    HIGH;

    internal val word: String
        get() = name.lowercase()
}

/** One piece of advice for a site, with the numbers that support it. Immutable. */
public class Advice
internal constructor(
    public val code: AdviceCode,
    /** The advice as one sentence. */
    public val text: String,
    /** Predicted speed-up: the median over the bursts. 1 if no speed-up is predicted. */
    public val factor: Double,
    /** Lower quartile of [factor]. */
    public val factorLow: Double,
    /** Upper quartile of [factor]. */
    public val factorHigh: Double,
    /** Number of recent bursts that were compared, at most 64. */
    public val bursts: Int,
    /** Number of these bursts that agree. */
    public val agreeing: Int,
    public val sureness: Sureness,
)

/**
 * The measurements of one site, and the advice for it. A burst is a number of tasks that were in flight together.
 * Immutable. Times are in ns.
 */
public class SiteAdvice
internal constructor(
    public val name: String,
    public val tasks: Long,
    public val bursts: Long,
    /** Mean number of tasks per burst, over recent bursts. */
    public val burstSize: Double,
    /** Time from the submission of a burst's first task to the end of its last task: the mean of recent bursts. */
    public val burstNs: Double,
    /** Wall time per task. */
    public val taskNs: Double,
    /** CPU time per task. NaN if it was never read. */
    public val taskCpuNs: Double,
    /** Time per task from its submission to its start. */
    public val waitNs: Double,
    /** Time that a submitting thread needs to hand over a task. */
    public val handNs: Double,
    /** Maximum number of tasks that ran at the same time. */
    public val threads: Int,
    /** Number of bursts in which threads slept in tasks. */
    public val sleptBursts: Long,
    /** Predicted time of a burst of [burstSize] tasks on the caller's thread. */
    public val inlineNs: Double,
    /** Predicted time of a burst of [burstSize] tasks on one worker per processor. */
    public val cpuPoolNs: Double,
    /** Predicted time of a burst of [burstSize] tasks on the number of threads that makes it fastest. */
    public val elasticNs: Double,
    /** The advice, with the most important one first. Never empty. */
    public val advice: List<Advice>,
)
