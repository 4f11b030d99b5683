// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

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
    val asked = System.getenv("CLEARWAY_FUZZ_SEED")
    val seed = if (asked == "random") System.nanoTime() else asked?.toLong() ?: 20_260_101L
    val times = System.getenv("CLEARWAY_FUZZ_RUNS")?.toInt() ?: runs
    runBlocking { checkAll(PropTestConfig(seed = seed, iterations = times), arb) { property(it) } }
}
