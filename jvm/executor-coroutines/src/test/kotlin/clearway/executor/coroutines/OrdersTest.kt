// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.coroutines

import clearway.executor.AdaptiveExecutor
import java.util.Random
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.async
import kotlinx.coroutines.cancel
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Runs batches of coroutines and coroutines of a dispatcher in random orders of cancellations and ends. Every coroutine
 * must complete. `CLEARWAY_FUZZ_RUNS` sets the number of orders, and `CLEARWAY_FUZZ_SEED` the seed of the first one.
 */
class OrdersTest {
    private fun play(seed: Long) = runBlocking {
        val random = Random(seed)
        val executor = AdaptiveExecutor(processors = 1 + random.nextInt(2), elasticMax = 1 + random.nextInt(8))
        val sites = listOf(executor.site("any"), executor.site("other"))
        val scope = CoroutineScope(SupervisorJob() + Dispatchers.Default)
        val started = ArrayList<Deferred<Any?>>()
        fun item(number: Int) =
            when (number % 5) {
                0 -> throw IllegalStateException("item")
                1 -> Thread.sleep(1)
                else -> Unit
            }
        repeat(20) {
            val site = sites[random.nextInt(sites.size)]
            val first = random.nextInt(100)
            when (random.nextInt(10)) {
                in 0..3 -> {
                    val items = List(random.nextInt(8)) { first + it }
                    started += scope.async { executor.awaitMapAll(site, items, ::item) }
                }
                in 4..6 ->
                    started +=
                        scope.async(executor.asDispatcher(site)) {
                            yield()
                            item(first)
                            delay(1)
                        }
                in 7..8 -> if (started.isNotEmpty()) started[random.nextInt(started.size)].cancel()
                else -> yield()
            }
        }
        when (random.nextInt(3)) {
            0 -> scope.cancel()
            // A coroutine that waits to be resumed belongs to the caller of `shutdownNow` from then on.
            1 -> executor.shutdownNow().forEach(Runnable::run)
        }
        for (each in started) withTimeout(60_000) { each.join() }
        scope.cancel()
        executor.shutdownNow().forEach(Runnable::run)
        executor.close()
        assertTrue(executor.isTerminated, "seed=$seed")
    }

    @Test
    fun `every coroutine completes, in any order of batches, cancellations and shutdowns`() {
        val asked = System.getenv("CLEARWAY_FUZZ_SEED")
        val first = if (asked == "random") System.nanoTime() else asked?.toLong() ?: 1
        val runs = System.getenv("CLEARWAY_FUZZ_RUNS")?.toInt() ?: 25
        println("orders=$runs seed=$first")
        for (seed in first until first + runs) play(seed)
    }
}
