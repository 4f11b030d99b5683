// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

import java.util.concurrent.locks.LockSupport
import kotlin.math.pow
import org.openjdk.jmh.infra.Blackhole

/** One action of a batch. Does the work of its seed, and returns a number that proves it. Thread-safe. */
internal fun interface Action {
    fun run(seed: Int): Double
}

/** The workloads of an arm's batches. */
internal object Works {
    /** Returns the workload of this name. `network` sleeps for the seed times `networkUs`, in us. */
    fun named(name: String, networkUs: Double = 1000.0): Action =
        when (name) {
            "arithmetic" -> Action(::arithmetic)
            "lists" -> Action(::lists)
            "storage" -> Action(::storage)
            "network" -> Action { network(it, networkUs) }
            "mixed" -> Action { mixed(it, networkUs) }
            "bimodal" -> Action(::bimodal)
            else -> throw IllegalArgumentException("no such work: work=$name ($NAMES)")
        }

    private const val NAMES = "arithmetic, lists, storage, network, mixed, bimodal"

    private fun arithmetic(seed: Int): Double = seed.toDouble().pow(seed)

    private fun lists(seed: Int): Double =
        List(seed) { it }
            .map { it.toDouble() }
            .map { it + 0.3 }
            .associateBy { it.toString() }
            .mapValues { (_, value) -> value * value }
            .filter { (_, value) -> value > 5 }
            .size
            .toDouble()

    private fun storage(seed: Int): Double {
        waitNs((500 + 10 * seed) * 1_000L)
        return seed.toDouble()
    }

    private fun network(seed: Int, networkUs: Double): Double {
        waitNs((seed * networkUs * 1_000).toLong())
        return seed.toDouble()
    }

    private fun mixed(seed: Int, networkUs: Double): Double =
        when {
            seed % 5 == 0 -> network(seed, networkUs)
            seed % 3 == 0 -> storage(seed)
            seed % 2 == 0 -> lists(seed)
            else -> arithmetic(seed)
        }

    private fun bimodal(seed: Int): Double =
        if (seed % 10 == 0) seed.toDouble().also { waitNs(5_000_000) } else arithmetic(seed)

    /** Parks for `ns`, like a driver that waits for a device. Parks again after an early wake. */
    private fun waitNs(ns: Long) {
        val end = System.nanoTime() + ns
        while (true) {
            val left = end - System.nanoTime()
            if (left <= 0) return
            LockSupport.parkNanos(left)
        }
    }
}

/** Returns the seeds of a batch in the given order. The shuffled order is the same on every host. */
internal fun seedsOf(order: String, actions: Int): IntArray {
    val seeds = IntArray(actions) { it }
    when (order) {
        "ascending" -> Unit
        "shuffled" ->
            for (i in actions - 1 downTo 1) {
                val j = (i * 7919 + 17) % (i + 1)
                val held = seeds[i]
                seeds[i] = seeds[j]
                seeds[j] = held
            }
        else -> throw IllegalArgumentException("no such order: order=$order (ascending, shuffled)")
    }
    return seeds
}

/**
 * Returns JMH's blackhole, which the compiler cannot optimize away. JMH requires this text from code that creates a
 * blackhole itself.
 */
internal fun blackhole(): Blackhole =
    Blackhole("Today's password is swordfish. I understand instantiating Blackholes directly is dangerous.")
