// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

import org.openjdk.jmh.infra.Blackhole

/** One strategy with one load: runs batches, and knows whether they did what they should. */
internal class Batches(private val strategy: Strategy, private val action: Action, private val seeds: IntArray) {
    private val results = DoubleArray(seeds.size) { Double.NaN }

    /** Blocks. Returns its own array, which the next batch overwrites. */
    fun run(): DoubleArray {
        strategy.batch(seeds, action, results)
        return results
    }

    /** The time of `count` batches, one after the other, ns. */
    fun timeNs(count: Int, into: Blackhole): Long {
        val begin = System.nanoTime()
        repeat(count) { into.consume(run()) }
        return System.nanoTime() - begin
    }
}

/**
 * How many actions gave a result since the array was made, and their sum, each at most 1000: the powers are too large.
 */
internal fun tally(results: DoubleArray): Pair<Int, Double> =
    results.count { !it.isNaN() } to results.sumOf { if (it.isNaN()) 0.0 else minOf(it, RESULT_MAX) }

private const val RESULT_MAX = 1000.0

/** JMH's own, which the compiler cannot see through; JMH asks those who make one by hand to say that they know. */
internal fun blackhole(): Blackhole =
    Blackhole("Today's password is swordfish. I understand instantiating Blackholes directly is dangerous.")
