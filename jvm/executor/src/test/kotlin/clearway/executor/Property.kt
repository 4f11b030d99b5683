// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import io.kotest.common.ExperimentalKotest
import io.kotest.property.Arb
import io.kotest.property.PropTestConfig
import io.kotest.property.checkAll
import kotlinx.coroutines.runBlocking

/**
 * Checks `property` on random values of `arb`. The seed is fixed, so a test can fail only after a change of the code.
 * `CLEARWAY_FUZZ_SEED` sets another seed (a number, or `random`), and `CLEARWAY_FUZZ_RUNS` sets the number of values. A
 * failure prints the seed and the shrunk value.
 */
@OptIn(ExperimentalKotest::class)
fun <A> forAll(arb: Arb<A>, runs: Int = 50, property: (A) -> Unit) {
    val config = PropTestConfig(seed = fuzzSeed(20_260_101L), iterations = fuzzRuns(runs))
    runBlocking { checkAll(config, arb) { property(it) } }
}

/** Returns the seed in `CLEARWAY_FUZZ_SEED`, or `default`. */
fun fuzzSeed(default: Long): Long {
    val asked = System.getenv("CLEARWAY_FUZZ_SEED") ?: return default
    return if (asked == "random") System.nanoTime() else asked.toLong()
}

/** Returns the number of runs in `CLEARWAY_FUZZ_RUNS`, or `default`. */
fun fuzzRuns(default: Int): Int = System.getenv("CLEARWAY_FUZZ_RUNS")?.toInt() ?: default
