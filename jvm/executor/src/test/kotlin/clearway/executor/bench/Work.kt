// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.bench

import java.util.concurrent.locks.LockSupport
import kotlin.math.pow

/**
 * One action of a batch. It gets a seed from 0 to 99. It uses its result, so that the compiler does not remove the
 * computation.
 */
internal fun interface Action {
    fun run(seed: Int)
}

/**
 * Consumes results. Compares each result with a value that it never has. So the result must be computed, and nothing is
 * written.
 */
internal object Sink {
    @JvmField var never: Any? = null

    fun take(value: Double) {
        if (value == -1.5) never = value
    }

    fun take(value: Any) {
        if (value === never) never = Any()
    }
}

/** The workloads of the family *offload*, with the orders of their seeds in the lab. */
internal enum class Work(val action: Action, private val order: (List<Int>) -> List<Int> = { it }) {
    ARITHMETIC({ arithmetic(it) }),
    LISTS({ lists(it) }),
    STORAGE({ storage(it) }),
    NETWORK({ network(it) }),
    MIXED({ mixed(it) }),
    /** The mixed workload in an order without a pattern. */
    SHUFFLED({ mixed(it) }, { shuffled(it) }),
    /** The mixed workload with its longest items last: the worst case for a queue with few threads. */
    ASCENDING({ mixed(it) }, { seeds -> seeds.sortedBy { wait(it) } }),
    /** A bimodal site: nine of ten items are trivial, and one blocks for 5 ms. */
    BIMODAL({ if (it % 10 == 0) park(5_000_000) else arithmetic(it) });

    val seeds: List<Int> = ArrayList(order((0 until 100).toList()))
}

internal fun arithmetic(seed: Int): Unit = Sink.take(seed.toDouble().pow(seed))

internal fun lists(seed: Int): Unit =
    Sink.take(
        (0 until seed)
            .map { it.toDouble() }
            .map { it + 0.3 }
            .associateBy { it.toString() }
            .mapValues { it.value * it.value }
            .filterValues { it > 5 }
    )

internal fun storage(seed: Int): Unit = park(500_000L + 10_000L * seed)

internal fun network(seed: Int): Unit = Thread.sleep(seed.toLong())

internal fun mixed(seed: Int): Unit =
    when {
        seed % 5 == 0 -> network(seed)
        seed % 3 == 0 -> storage(seed)
        seed % 2 == 0 -> lists(seed)
        else -> arithmetic(seed)
    }

/** Shuffles by Fisher-Yates without random numbers. The lab uses this order in every language. */
private fun shuffled(seeds: List<Int>): List<Int> {
    val order = ArrayList(seeds)
    for (i in order.size - 1 downTo 1) {
        val j = (i * 7919 + 17) % (i + 1)
        order[i] = order.set(j, order[i])
    }
    return order
}

/** Returns a number that orders the seeds of the mixed workload by their duration. */
private fun wait(seed: Int): Int =
    when {
        seed % 5 == 0 -> 1_000_000 + seed
        seed % 3 == 0 -> 10_000 + seed
        seed % 2 == 0 -> 1_000 + seed
        else -> seed
    }

/**
 * Waits for `ns`, even if it is woken early. Pools leave permits behind, and a permit would end a single park at once.
 */
private fun park(ns: Long) {
    val until = System.nanoTime() + ns
    while (true) {
        val left = until - System.nanoTime()
        if (left <= 0) return
        LockSupport.parkNanos(left)
    }
}
