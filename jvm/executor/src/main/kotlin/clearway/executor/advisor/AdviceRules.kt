// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.advisor

import clearway.executor.model.Placement

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
        if (statistics.model.mayBlock) return null
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
        if (!statistics.model.mayBlock || setting.threadsMax > setting.processors * FEW) return null
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
        if (!statistics.model.mayBlock) return null
        val size = maxOf(1, Math.round(statistics.size.mean).toInt())
        return quicker(statistics, Placement.ELASTIC, AdviceCode.MORE_THREADS) { times ->
            "would be $times faster with one thread per task: a burst of $size takes ${time(statistics.elapsedNs.mean)} " +
                "with ${statistics.threads} at once, ${time(statistics.predictedNs(Placement.ELASTIC, size))} with as many threads " +
                "as help"
        }
    }

    private fun fewerThreads(statistics: SiteStatistics): Advice? {
        if (statistics.model.mayBlock || statistics.threads <= setting.processors * FEW) return null
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
