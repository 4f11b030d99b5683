// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import io.kotest.common.ExperimentalKotest
import io.kotest.property.Arb
import io.kotest.property.PropTestConfig
import io.kotest.property.arbitrary.bind
import io.kotest.property.arbitrary.boolean
import io.kotest.property.arbitrary.enum
import io.kotest.property.arbitrary.int
import io.kotest.property.checkAll
import java.util.Random
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutorService
import java.util.concurrent.Future
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException
import java.util.concurrent.locks.LockSupport
import kotlin.concurrent.thread
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Runs tasks, batches, cancellations and every kind of shutdown from three threads, in random orders. Every future must
 * settle, or `shutdownNow` must return its task. No thread may remain. `CLEARWAY_FUZZ_RUNS` sets the number of orders,
 * and `CLEARWAY_FUZZ_SEED` sets the seed of the first one. With 1000 orders or more, the heap must not grow either.
 */
class OrdersTest {
    private class Order(seed: Long) {
        private val random = Random(seed)
        val executor = AdaptiveExecutor(processors = 1 + random.nextInt(2), elasticMax = 1 + random.nextInt(8))
        private val sites =
            listOf(
                executor.site("any"),
                executor.site("ordered", SiteOptions().ordered()),
                executor.site("carries", SiteOptions().carry(ThreadLocal.withInitial { 1 })),
            )
        private val services: List<ExecutorService> = listOf(executor) + sites.map(executor::asExecutorService)
        val futures = ConcurrentLinkedQueue<Future<*>>()
        val returned = ConcurrentLinkedQueue<Runnable>()
        private val seeds = List(3) { random.nextLong() }

        private fun item(random: Random) {
            when (random.nextInt(12)) {
                0 -> throw IllegalStateException("item")
                1 -> throw AssertionError("item")
                2 -> CountDownLatch(1).await()
                3 -> repeat(random.nextInt(2000)) { Thread.onSpinWait() }
                4 -> executor.runAll(executor.site("inner"), 3) {}
            }
        }

        private fun step(random: Random) {
            val own = Random(random.nextLong())
            val site = sites[random.nextInt(sites.size)]
            val service = services[random.nextInt(services.size)]
            val some = futures.firstOrNull { random.nextInt(3) == 0 }
            when (random.nextInt(27)) {
                in 0..7 -> futures += service.submit { item(own) }
                in 8..11 ->
                    futures +=
                        executor.runAllAsync(site, List(own.nextInt(20)) { it }) { item(Random(it + own.nextLong())) }
                in 12..14 -> executor.runAll(site, own.nextInt(20)) { if (it == 7) error("item") }
                in 15..18 -> some?.cancel(random.nextBoolean())
                19 -> service.shutdown()
                20 -> returned += service.shutdownNow()
                21 -> executor.submit {}
                22 -> Thread.yield()
                in 23..25 ->
                    futures +=
                        executor.mapAllAsync(site, List(own.nextInt(20)) { it }) {
                            item(Random(it + own.nextLong()))
                            it
                        }
                else -> repeat(random.nextInt(5000)) { Thread.onSpinWait() }
            }
        }

        fun run() {
            val callers =
                seeds.map { seed ->
                    thread {
                        val random = Random(seed)
                        repeat(20) {
                            try {
                                step(random)
                            } catch (_: RejectedExecutionException) {
                                // Expected after the shutdown.
                            } catch (_: java.util.concurrent.CancellationException) {
                                // Expected when the batch was cancelled.
                            } catch (_: IllegalStateException) {
                                // Expected: the item's own exception.
                            }
                        }
                    }
                }
            // Some items wait for an interrupt, and block their ordered site until `shutdownNow` interrupts them.
            callers[0].join(STUCK_MS)
            returned += executor.shutdownNow()
            callers.forEach { it.join() }
            executor.close()
        }
    }

    @Test
    fun `every future settles or is returned, and no thread remains, in any order of actions`() {
        val seed = fuzzSeed(20_261_123)
        val orders = fuzzRuns(25)
        println("orders=$orders seed=$seed")
        val heap = if (orders >= 1000) HeapWatch(orders) else null
        for (number in 0 until orders) {
            heap?.look(number)
            val before = threads()
            val order = Order(seed + number)
            order.run()
            assertTrue(order.executor.isTerminated, "seed=${seed + number}")
            val returned = order.returned.toSet<Any>()
            for (future in order.futures) {
                if (future in returned) continue
                try {
                    future.get(60, TimeUnit.SECONDS)
                } catch (hangs: TimeoutException) {
                    throw AssertionError("a future hangs: seed=${seed + number}", hangs)
                } catch (_: Exception) {
                    // Expected: the future failed or was cancelled.
                }
            }
            assertNoneLeft(before, ": seed=${seed + number}")
        }
    }

    /**
     * Compares the used heap after a warm-up with the used heap at the end. Looks at the minimum of several moments,
     * because threads and futures of the last order may not be garbage yet.
     */
    private class HeapWatch(private val orders: Int) {
        private val early = ArrayList<Long>()
        private val late = ArrayList<Long>()

        fun look(number: Int) {
            val step = orders / 20
            if (number % step != 0) return
            System.gc()
            val used = Runtime.getRuntime().run { totalMemory() - freeMemory() }
            val part = number / step
            if (part in 2..6) early += used
            if (part in 15..19) late += used
            if (part == 19) {
                println("heap: ${early.min() shr 10} KiB, then ${late.min() shr 10} KiB")
                val grown = late.min() - early.min()
                assertTrue(grown < HEAP_GROWTH_MAX, "the heap grew by $grown bytes in $orders orders")
            }
        }
    }

    private companion object {
        /**
         * Maximum growth of the used heap, in bytes. An order that left a future or a task of 100 bytes behind would
         * exceed it in less than 100,000 orders. The JIT compiler and class data are not in the heap.
         */
        const val HEAP_GROWTH_MAX = 4L shl 20

        /** Time in ms that the callers get before `shutdownNow`. It only determines how much they do. */
        const val STUCK_MS = 20L
    }
}

/** The work of an item. */
enum class Kind(private val body: () -> Unit) {
    TRIVIAL({}),
    SHORT({ spin(2_000) }),
    LONG({ spin(100_000) }),
    ASLEEP({ LockSupport.parkNanos(50_000) });

    fun run(): Unit = body()
}

data class Asked(val size: Int, val kind: Kind, val known: Boolean)

val batches: Arb<Asked> = Arb.bind(Arb.int(0, 300), Arb.enum<Kind>(), Arb.boolean(), ::Asked)

/** Spins for about `steps` ns. */
fun spin(steps: Int) {
    var state = steps
    repeat(steps) { state = state * 1_664_525 + 1_013_904_223 }
    if (state == 42) println()
}

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
