// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.bench

import java.util.concurrent.locks.LockSupport
import kotlin.math.pow

/** What one action does. Every action is given a seed from 0 to 99; what it computes is kept from being thrown away. */
internal fun interface Action {
    fun run(seed: Int)
}

/** Where a result goes: compared with what it never is, so that it must be computed and nothing is written. */
internal object Sink {
    @JvmField var never: Any? = null

    fun take(value: Double) {
        if (value == -1.5) never = value
    }

    fun take(value: Any) {
        if (value === never) never = Any()
    }
}

/** The works of the family *offload*, and the orders in which the lab gives their seeds. */
internal enum class Work(val action: Action, private val order: (List<Int>) -> List<Int> = { it }) {
    ARITHMETIC({ arithmetic(it) }),
    LISTS({ lists(it) }),
    STORAGE({ storage(it) }),
    NETWORK({ network(it) }),
    MIXED({ mixed(it) }),
    /** The mixed work in an order that has no pattern. */
    SHUFFLED({ mixed(it) }, { shuffled(it) }),
    /** The mixed work with what takes longest last: the bad case for a queue before few threads. */
    ASCENDING({ mixed(it) }, { seeds -> seeds.sortedBy { wait(it) } }),
    /** A site that is two things: nine of ten are trivial, and one blocks for 5 ms. */
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

/** Fisher and Yates's, by numbers that need no generator: the lab's order, in whichever language. */
private fun shuffled(seeds: List<Int>): List<Int> {
    val order = ArrayList(seeds)
    for (i in order.size - 1 downTo 1) {
        val j = (i * 7919 + 17) % (i + 1)
        order[i] = order.set(j, order[i])
    }
    return order
}

/** How seeds of the mixed work rank by what they take. */
private fun wait(seed: Int): Int =
    when {
        seed % 5 == 0 -> 1_000_000 + seed
        seed % 3 == 0 -> 10_000 + seed
        seed % 2 == 0 -> 1_000 + seed
        else -> seed
    }

/** Waits for `ns` as often as it is woken before: pools leave permits behind, which would end a single park at once. */
private fun park(ns: Long) {
    val until = System.nanoTime() + ns
    while (true) {
        val left = until - System.nanoTime()
        if (left <= 0) return
        LockSupport.parkNanos(left)
    }
}
