// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.advisor

import clearway.executor.model.Placement

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

/** Facts about a watched executor and its machine. */
internal class Setting(
    val processors: Int,
    /** The executor's maximum number of threads, or `Int.MAX_VALUE` if unknown. */
    val threadsMax: Int,
    /** Returns the time in ns that work may take on an event thread. */
    val eventBudgetNs: () -> Long,
)

/** Derives advice from the measurements of a site. It has no state. */
internal class AdviceRules(private val setting: Setting) {
    fun advice(statistics: SiteStatistics): List<Advice> {
        val seen = statistics.ratios.getValue(Placement.INLINE).count
        if (seen < BURSTS_MIN)
            return listOf(plain(AdviceCode.TOO_EARLY, "too early to say: $seen bursts were compared", seen))
        val found =
            listOfNotNull(
                blocksWorker(statistics),
                inline(statistics),
                moreThreads(statistics),
                fewerThreads(statistics),
            )
        return found.ifEmpty { listOf(plain(AdviceCode.FINE, "no other strategy would be much faster", seen)) }
    }

    private fun inline(statistics: SiteStatistics): Advice? {
        val size = maxOf(1, Math.round(statistics.size.mean).toInt())
        if (statistics.sleeps) return null
        if (statistics.fromEventThread && statistics.atWorstNs(size) > setting.eventBudgetNs()) return null
        // If a task is shorter than its hand-over, running it inline is faster even for a caller that does not wait for
        // it.
        val gainsAnyway = statistics.model.itemNs < statistics.handNs.mean
        val condition =
            if (gainsAnyway)
                "; a caller that does not wait gains too: a task takes ${time(statistics.handNs.mean)} to hand over and " +
                    "${time(statistics.model.itemNs)} to run"
            else "; only a caller that waits for the burst gains"
        return quicker(statistics, Placement.INLINE, AdviceCode.INLINE) { times ->
            "would be $times faster inline: a burst of $size takes ${time(statistics.elapsedNs.mean)} here, " +
                "${time(statistics.predictedNs(Placement.INLINE, size))} on the calling thread$condition"
        }
    }

    private fun blocksWorker(statistics: SiteStatistics): Advice? {
        if (!statistics.sleeps || setting.threadsMax > setting.processors * FEW) return null
        val asleepNs = statistics.model.itemNs - statistics.model.cpuOrWallNs
        val agreeing = (statistics.sleptBursts * COMPARED / maxOf(1, statistics.bursts)).toInt().coerceAtMost(COMPARED)
        val text =
            "blocks a CPU worker: a task takes ${time(statistics.model.itemNs)} and sleeps for ${time(asleepNs)} of it, " +
                "while its worker, one of ${setting.threadsMax}, runs nothing else; tasks wait ${time(statistics.waitNs.mean)} " +
                "for a worker"
        val seen = statistics.ratios.getValue(Placement.INLINE).count
        val share = minOf(seen, agreeing * seen / COMPARED)
        return Advice(AdviceCode.BLOCKS_CPU_WORKER, text, 1.0, 1.0, 1.0, seen, share, sureness(seen, share))
    }

    private fun moreThreads(statistics: SiteStatistics): Advice? {
        if (!statistics.sleeps) return null
        val size = maxOf(1, Math.round(statistics.size.mean).toInt())
        return quicker(statistics, Placement.ELASTIC, AdviceCode.MORE_THREADS) { times ->
            "would be $times faster with one thread per task: a burst of $size takes ${time(statistics.elapsedNs.mean)} " +
                "with ${statistics.threads} at once, ${time(statistics.predictedNs(Placement.ELASTIC, size))} with as many threads " +
                "as help"
        }
    }

    private fun fewerThreads(statistics: SiteStatistics): Advice? {
        if (statistics.sleeps || statistics.threads <= setting.processors * FEW) return null
        val size = maxOf(1, Math.round(statistics.size.mean).toInt())
        return quicker(statistics, Placement.CPU, AdviceCode.FEWER_THREADS) { times ->
            "would be $times faster with one worker per processor: ${statistics.threads} threads share " +
                "${setting.processors} processors, and the tasks do not sleep"
        }
    }

    private fun quicker(
        statistics: SiteStatistics,
        place: Placement,
        code: AdviceCode,
        text: (String) -> String,
    ): Advice? {
        val ratios = statistics.ratios.getValue(place)
        val factor = ratios.quantile(0.5)
        if (factor < WORTH) return null
        val agreeing = ratios.over(1.0)
        return Advice(
            code,
            text("${rounded(factor)} times"),
            factor,
            ratios.quantile(0.25),
            ratios.quantile(0.75),
            ratios.count,
            agreeing,
            sureness(ratios.count, agreeing),
        )
    }

    private fun plain(code: AdviceCode, text: String, seen: Int) =
        Advice(code, text, 1.0, 1.0, 1.0, seen, seen, sureness(seen, seen))

    private fun sureness(seen: Int, agreeing: Int): Sureness =
        when {
            seen < LOW_UNDER || agreeing < seen * 0.75 -> Sureness.LOW
            seen >= HIGH_FROM && agreeing >= seen * 0.95 -> Sureness.HIGH
            else -> Sureness.FAIR
        }

    private companion object {
        /** Minimum number of compared bursts. */
        const val BURSTS_MIN = 8
        const val LOW_UNDER = 16
        const val HIGH_FROM = 32
        /**
         * Minimum speed-up that justifies advice. Predictions are accurate to a tenth, and a change of the program
         * should gain more than that.
         */
        const val WORTH = 1.25
        /** A pool with at most this many threads per processor is meant for work that does not sleep. */
        const val FEW = 2
        /** Number of recent bursts that are compared. */
        const val COMPARED = 64
    }
}

internal fun rounded(value: Double): String =
    if (value >= 9.95) Math.round(value).toString() else "%.1f".format(java.util.Locale.ROOT, value)

/** Formats a time in ns in a readable unit. */
internal fun time(ns: Double): String =
    when {
        ns.isNaN() -> "an unknown time"
        ns < 1e3 -> "${rounded(ns)} ns"
        ns < 1e6 -> "${rounded(ns / 1e3)} us"
        ns < 1e9 -> "${rounded(ns / 1e6)} ms"
        else -> "${rounded(ns / 1e9)} s"
    }
