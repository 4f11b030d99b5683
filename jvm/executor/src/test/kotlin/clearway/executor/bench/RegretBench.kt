// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.bench

import clearway.executor.AdaptiveExecutor
import clearway.executor.model.Placement
import java.util.Random

/**
 * Compares the adaptive executor with fixed strategies. `RegretBench steady WORK SECONDS` prints one line per strategy:
 * `name TAB ns in even rounds TAB ns in odd rounds`. `first WORK` prints the time of a site's first batch, and `change`
 * the number of batches that a changed site needs. Each workload runs in a JVM of its own, so that the code is compiled
 * for that workload alone. scripts/jvm-bench.mjs starts these JVMs and makes the tables.
 */
internal fun main(args: Array<String>) {
    val processors = Runtime.getRuntime().availableProcessors()
    AdaptiveExecutor().use { executor ->
        when (args[0]) {
            "steady" -> steady(Work.valueOf(args[1].uppercase()), args[2].toDouble(), executor, processors)
            "first" -> first(Work.valueOf(args[1].uppercase()), executor)
            "change" -> for ((from, to) in CHANGES) change(from, to, executor)
            else -> error("unknown verb: ${args[0]}")
        }
    }
    System.exit(0) // The frameworks' threads would keep the JVM alive for a minute.
}

private fun steady(work: Work, seconds: Double, executor: AdaptiveExecutor, processors: Int) {
    // The second direct strategy is the control. Its difference from the first one is noise.
    val ours = listOfNotNull(Adaptive(executor, work.name.lowercase()), work.kindOf?.let { ByKind(executor, it) })
    val strategies = fixedStrategies(processors) + Direct("direct again") + ours
    val samples = Rounds(work, strategies).measure((seconds * 1e8).toLong(), (seconds * 1e9).toLong(), 800)
    for (at in strategies.indices) {
        val even = samples.quartile(at) { it % 2 == 0 }
        val odd = samples.quartile(at) { it % 2 == 1 }
        println("${samples.names[at]}\t$even\t$odd")
    }
    if (System.getenv("CLEARWAY_BENCH_TELL") != null) tell(executor)
}

/** Prints the executor's measurements, to explain its decisions. */
private fun tell(executor: AdaptiveExecutor) {
    System.err.println(executor.live.now)
    for (site in executor.known) {
        val model = site.model
        val plan = site.plan(100, executor.live.now)
        System.err.println(
            "$site itemNs=${model.itemNs} itemCpuNs=${model.itemCpuNs} blocked=${model.blockedMemory} " +
                "batches=${model.batches} corrections=${Placement.entries.map { model.correction(it) }} " +
                "plan=${plan.place} helpers=${plan.helpers} chunk=${plan.chunk} bulk=${plan.bulk} serves=${plan.serves}"
        )
    }
}

/** Measures the first batch of unknown sites, with a warm executor and compiled code. */
private fun first(work: Work, executor: AdaptiveExecutor) {
    val known = Adaptive(executor, "known")
    val warmUntil = System.nanoTime() + 1_500_000_000
    do known.run(work.seeds, work.action) while (System.nanoTime() < warmUntil)
    val firsts = ArrayList<Long>()
    val steady = ArrayList<Long>()
    for (number in 0 until 15) {
        firsts += timed { Adaptive(executor, "new $number").run(work.seeds, work.action) }
        steady += timed { known.run(work.seeds, work.action) }
    }
    println("${work.name.lowercase()}\t${firsts.sorted()[7]}\t${steady.sorted()[7]}")
}

/**
 * Counts the batches that a changed site needs. The site first runs `from`, and then `to`. It is done when a batch
 * takes at most a quarter longer than on a site that always ran `to`.
 */
private fun change(from: Work, to: Work, executor: AdaptiveExecutor) {
    val counts = ArrayList<Int>()
    val always = Adaptive(executor, "always $to $from")
    val warmUntil = System.nanoTime() + 1_000_000_000
    do always.run(to.seeds, to.action) while (System.nanoTime() < warmUntil)
    val steady = List(15) { timed { always.run(to.seeds, to.action) } }.sorted()[7]
    for (time in 0 until 5) {
        val changing = Adaptive(executor, "$from then $to $time")
        repeat(if (from == Work.ARITHMETIC || from == Work.LISTS) 2_000 else 20) {
            changing.run(from.seeds, from.action)
        }
        var batches = 0
        var good = 0
        // Requires three such batches in a row, so that a lucky one does not decide. These three are not counted.
        while (good < 3 && batches < 500) {
            if (timed { changing.run(to.seeds, to.action) } < steady * 1.25) good++ else good = 0
            batches++
        }
        counts += batches - good
    }
    println("${from.name.lowercase()} to ${to.name.lowercase()}\t${counts.sorted()[2]}\t${counts.max()}")
}

private inline fun timed(run: () -> Unit): Long {
    val from = System.nanoTime()
    run()
    return System.nanoTime() - from
}

private val CHANGES =
    listOf(
        Work.ARITHMETIC to Work.STORAGE,
        Work.STORAGE to Work.ARITHMETIC,
        Work.ARITHMETIC to Work.LISTS,
        Work.LISTS to Work.STORAGE,
        Work.STORAGE to Work.LISTS,
    )

/**
 * Measures strategies in interleaved rounds. Each round runs every strategy once, in random order. A batch shorter than
 * [SAMPLE_NS] is repeated, and the sample is the mean.
 *
 * A strategy that takes more than [FAR] times as long as the fastest one takes part in no round. Its result is its
 * fastest batch of the warm-up, because such a result need not be precise.
 */
internal class Rounds(private val work: Work, private val strategies: List<Strategy>) {
    /** Time of a batch in ns, by strategy and round. NaN if the strategy did not run. */
    class Samples(val names: List<String>, val ns: List<DoubleArray>) {
        /** Returns the lower quartile of the samples, because other processes can only lengthen a sample. */
        fun quartile(strategy: Int, rounds: (Int) -> Boolean): Double {
            val some = ns[strategy].filterIndexed { round, value -> rounds(round) && !value.isNaN() }.sorted()
            return if (some.isEmpty()) Double.NaN else some[some.size / 4]
        }
    }

    fun measure(warmNs: Long, measureNs: Long, roundsMax: Int): Samples {
        val pilots = strategies.map { warmed(it, warmNs) }
        val repeats = pilots.map { (SAMPLE_NS / it).toInt().coerceIn(1, REPEATS_MAX) }
        val near = pilots.indices.filter { pilots[it] <= pilots.min() * FAR }
        val rounds = (measureNs / near.sumOf { pilots[it] * repeats[it] }).toInt().coerceIn(ROUNDS_MIN, roundsMax)
        val ns = pilots.indices.map { at -> DoubleArray(rounds) { if (at in near) Double.NaN else pilots[at] } }
        val random = Random(1)
        for (round in 0 until rounds) {
            for (at in near.shuffled(random)) ns[at][round] = batchNs(strategies[at], repeats[at])
        }
        return Samples(strategies.map { it.name }, ns)
    }

    /**
     * Warms up a strategy for `warmNs`, or with one batch if that batch takes longer than [LONG_NS]. Returns the
     * shortest time per batch.
     */
    private fun warmed(strategy: Strategy, warmNs: Long): Double {
        val until = System.nanoTime() + warmNs
        var best = batchNs(strategy, 1)
        if (best > LONG_NS) return best
        while (System.nanoTime() < until) {
            best = minOf(best, batchNs(strategy, (SAMPLE_NS / best).toInt().coerceIn(1, REPEATS_MAX)))
        }
        return best
    }

    private fun batchNs(strategy: Strategy, repeats: Int): Double {
        val from = System.nanoTime()
        for (repeat in 0 until repeats) strategy.run(work.seeds, work.action)
        return (System.nanoTime() - from).toDouble() / repeats
    }

    private companion object {
        /**
         * Intended duration of a sample of short batches, in ns. It is shorter than a scheduler's time slice, so no
         * other process runs during most samples.
         */
        const val SAMPLE_NS = 2_000_000.0
        const val REPEATS_MAX = 5_000
        const val FAR = 8.0
        const val ROUNDS_MIN = 16
        /** A batch that takes longer than this, in ns, mostly sleeps, and needs no more warm-up. */
        const val LONG_NS = 400_000_000.0
    }
}
