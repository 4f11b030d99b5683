// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.bench

import clearway.executor.AdaptiveExecutor
import clearway.executor.model.Placement

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
    val strategies = fixedStrategies(processors) + Direct("direct again") + Adaptive(executor, work.name.lowercase())
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
