// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.advisor

import clearway.executor.model.Place

/** The properties of the watched executor that the rules need. */
internal class Setting(
    val processors: Int,
    /** The most threads that the executor has, or `Int.MAX_VALUE` where that is not known. */
    val threadsMax: Int,
    /** The longest run allowed on an event thread, ns. */
    val eventBudgetNs: () -> Long,
)

/** Turns what was learnt of a site into advice. Pure. */
internal class AdviceRules(private val setting: Setting) {
    fun advice(statistics: SiteStatistics): List<Advice> {
        val seen = statistics.ratios.getValue(Place.INLINE).count
        if (seen < BURSTS_MIN)
            return listOf(plain(AdviceCode.TOO_EARLY, "too early to say: $seen bursts were compared", seen))
        val found =
            listOfNotNull(
                blocksWorker(statistics),
                inline(statistics),
                moreThreads(statistics),
                fewerThreads(statistics),
            )
        return found.ifEmpty { listOf(plain(AdviceCode.FINE, "nothing would be quicker by enough to matter", seen)) }
    }

    private fun inline(statistics: SiteStatistics): Advice? {
        val size = maxOf(1, Math.round(statistics.size.mean).toInt())
        if (statistics.model.mayBlock) return null
        if (statistics.fromEventThread && statistics.atWorstNs(size) > setting.eventBudgetNs()) return null
        // Who does not wait gains as well where the task is shorter than its hand-over.
        val whoever = statistics.model.itemNs < statistics.handNs.mean
        val condition =
            if (whoever)
                "; even who does not wait pays ${time(statistics.handNs.mean)} to hand over what takes ${time(statistics.model.itemNs)}"
            else ", for who waits for it"
        return quicker(statistics, Place.INLINE, AdviceCode.INLINE) { times ->
            "would be $times faster inline: a burst of $size takes ${time(statistics.elapsedNs.mean)} here, " +
                "${time(statistics.predictedNs(Place.INLINE, size))} on the calling thread$condition"
        }
    }

    private fun blocksWorker(statistics: SiteStatistics): Advice? {
        if (!statistics.model.mayBlock || setting.threadsMax > setting.processors * FEW) return null
        val asleepNs = statistics.model.itemNs - statistics.model.cpuOrWallNs
        val agreeing = (statistics.sleptBursts * COMPARED / maxOf(1, statistics.bursts)).toInt().coerceAtMost(COMPARED)
        val text =
            "blocks a CPU worker: of ${time(statistics.model.itemNs)} a task sleeps ${time(asleepNs)}, and its worker, " +
                "one of ${setting.threadsMax}, runs nothing meanwhile; tasks waited ${time(statistics.waitNs.mean)} to begin"
        val seen = statistics.ratios.getValue(Place.INLINE).count
        val share = minOf(seen, agreeing * seen / COMPARED)
        return Advice(AdviceCode.BLOCKS_CPU_WORKER, text, 1.0, 1.0, 1.0, seen, share, sureness(seen, share))
    }

    private fun moreThreads(statistics: SiteStatistics): Advice? {
        if (!statistics.model.mayBlock) return null
        val size = maxOf(1, Math.round(statistics.size.mean).toInt())
        return quicker(statistics, Place.ELASTIC, AdviceCode.MORE_THREADS) { times ->
            "would be $times faster with a thread a task: a burst of $size takes ${time(statistics.elapsedNs.mean)} with " +
                "${statistics.threads} at once, ${time(statistics.predictedNs(Place.ELASTIC, size))} with as many as pay"
        }
    }

    private fun fewerThreads(statistics: SiteStatistics): Advice? {
        if (statistics.model.mayBlock || statistics.threads <= setting.processors * FEW) return null
        val size = maxOf(1, Math.round(statistics.size.mean).toInt())
        return quicker(statistics, Place.CPU, AdviceCode.FEWER_THREADS) { times ->
            "would be $times faster with one worker a processor: ${statistics.threads} threads share " +
                "${setting.processors}, and its tasks do not sleep"
        }
    }

    private fun quicker(statistics: SiteStatistics, place: Place, code: AdviceCode, text: (String) -> String): Advice? {
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
        /** Fewer say nothing: an eighth of them is one. */
        const val BURSTS_MIN = 8
        const val LOW_UNDER = 16
        const val HIGH_FROM = 32
        /** A prediction is trusted to a tenth; a change to a program should bring more than that. */
        const val WORTH = 1.25
        /** Up to two threads a processor are a pool for work that does not sleep. */
        const val FEW = 2
        const val COMPARED = 64
    }
}

internal fun rounded(value: Double): String =
    if (value >= 9.95) Math.round(value).toString() else "%.1f".format(java.util.Locale.ROOT, value)

/** ns in the unit that reads best. */
internal fun time(ns: Double): String =
    when {
        ns.isNaN() -> "an unknown time"
        ns < 1e3 -> "${rounded(ns)} ns"
        ns < 1e6 -> "${rounded(ns / 1e3)} us"
        ns < 1e9 -> "${rounded(ns / 1e6)} ms"
        else -> "${rounded(ns / 1e9)} s"
    }
