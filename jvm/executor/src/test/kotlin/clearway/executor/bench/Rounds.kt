// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.bench

import java.util.Random

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
