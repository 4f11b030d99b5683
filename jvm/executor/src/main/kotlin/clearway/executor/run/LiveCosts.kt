// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

import clearway.executor.host.Clock
import clearway.executor.model.Costs
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.LockSupport

/** The machine's current costs. They are measured once at start-up, and updated after batches with helpers. */
internal class LiveCosts(initial: Costs, private val clock: Clock) {
    @Volatile
    var now: Costs = initial
        private set

    /**
     * Updates the costs after a batch. The caller took `tookNs` to ask `threads` threads. The first of them joined
     * after `joinedAfterNs`; 0 means that none joined.
     */
    fun follow(elastic: Boolean, threads: Int, tookNs: Long, joinedAfterNs: Long) {
        synchronized(this) {
            val before = now
            val hand = mix(if (elastic) before.startNs else before.offerNs, tookNs / maxOf(1, threads))
            val old = if (elastic) before.startedNs else before.wakeNs
            val joined = if (joinedAfterNs > 0) mix(old, joinedAfterNs) else old
            now =
                if (elastic) before.copy(startNs = hand, startedNs = joined)
                else before.copy(offerNs = hand, wakeNs = joined)
        }
    }

    /**
     * Moves a cost towards an observation. Preemption and garbage collection can only lengthen a hand-over. So the cost
     * rises slowly and falls quickly, and an observation counts as at most [CAP] times the old cost.
     */
    private fun mix(before: Long, seen: Long): Long {
        val moved = seen.coerceIn(MIN_NS, before * CAP) - before
        return before + moved / (if (moved < 0) MEMORY_DOWN else MEMORY)
    }

    /** Measures the costs as medians of a few clock readings and hand-overs. Takes about 3 ms. */
    fun calibrate(workers: Threads, elastic: Threads) {
        // An interrupt repeats the measurement. The caller's interrupt status is set again at the end.
        var interrupted = Thread.interrupted()
        while (true) {
            try {
                measure(workers, elastic)
                break
            } catch (_: InterruptedException) {
                interrupted = true
            }
        }
        if (interrupted) Thread.currentThread().interrupt()
    }

    private fun measure(workers: Threads, elastic: Threads) {
        val clockNs = repeated { clock.nanoTime() }
        val cpuClockNs = repeated { clock.threadCpuNs() }
        val (offerNs, wakeNs) = handOvers(workers)
        val (startNs, startedNs) = handOvers(elastic)
        synchronized(this) {
            now =
                now.copy(
                    clockNs = clockNs,
                    cpuClockNs = cpuClockNs,
                    offerNs = offerNs,
                    wakeNs = wakeNs,
                    startNs = startNs,
                    startedNs = startedNs,
                )
        }
    }

    private inline fun repeated(read: () -> Unit): Long {
        val times = LongArray(ROUNDS)
        for (round in times.indices) {
            val from = clock.nanoTime()
            repeat(READINGS) { read() }
            times[round] = (clock.nanoTime() - from) / READINGS
        }
        return maxOf(1, times.sorted()[ROUNDS / 2])
    }

    private fun handOvers(threads: Threads): Pair<Long, Long> {
        val hand = LongArray(ROUNDS)
        val awake = LongArray(ROUNDS)
        for (round in 0 until ROUNDS) {
            val come = CountDownLatch(1)
            val from = clock.nanoTime()
            var came = from
            try {
                threads.offer {
                    came = clock.nanoTime()
                    come.countDown()
                }
            } catch (_: OutOfMemoryError) {
                return unmeasured(threads) // The system cannot start a thread.
            }
            hand[round] = clock.nanoTime() - from
            // If no thread starts within a second, nothing can be measured, and the defaults apply.
            if (!come.await(1, TimeUnit.SECONDS)) return unmeasured(threads)
            awake[round] = came - from
            // Waits until the thread has parked, because an awake thread would take the next job at once.
            LockSupport.parkNanos(PARKED_AFTER_NS)
        }
        // Returns the median cost for the caller, and the median time to wake a parked thread.
        return maxOf(MIN_NS, hand.sorted()[ROUNDS / 2]) to maxOf(MIN_NS, awake.sorted()[ROUNDS / 2])
    }

    private fun unmeasured(threads: Threads): Pair<Long, Long> =
        if (threads is Workers) 5_000L to 40_000L else 10_000L to 60_000L

    private companion object {
        const val ROUNDS = 9
        const val READINGS = 20
        const val MIN_NS = 100L
        const val CAP = 4
        const val MEMORY = 32
        const val MEMORY_DOWN = 4
        const val PARKED_AFTER_NS = 100_000L
    }
}
