// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

import org.openjdk.jmh.infra.Blackhole

/** Runs batches of one load with one strategy, and keeps their results. */
internal class Batches(private val strategy: Strategy, private val action: Action, private val seeds: IntArray) {
    private val results = DoubleArray(seeds.size) { Double.NaN }

    /** Runs one batch and returns its results, in an array that the next batch overwrites. Blocks. */
    fun run(): DoubleArray {
        strategy.batch(seeds, action, results)
        return results
    }

    /** Returns the time of `count` consecutive batches, in ns. */
    fun timeNs(count: Int, into: Blackhole): Long {
        val begin = System.nanoTime()
        repeat(count) { into.consume(run()) }
        return System.nanoTime() - begin
    }
}

/**
 * Returns the number of actions that have returned a result since the array was created, and the sum of their results.
 * A result counts as at most 1000, because the results of `arithmetic` (powers) are too large.
 */
internal fun tally(results: DoubleArray): Pair<Int, Double> =
    results.count { !it.isNaN() } to results.sumOf { if (it.isNaN()) 0.0 else minOf(it, RESULT_MAX) }

private const val RESULT_MAX = 1000.0

/**
 * Returns JMH's blackhole, which the compiler cannot optimize away. JMH requires this text from code that creates a
 * blackhole itself.
 */
internal fun blackhole(): Blackhole =
    Blackhole("Today's password is swordfish. I understand instantiating Blackholes directly is dangerous.")
