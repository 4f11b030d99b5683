// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.published

import java.util.concurrent.locks.LockSupport
import kotlin.math.pow

/** The five works of the published experiment, exactly as published. Each takes the seed of its action. Thread-safe. */
internal object PublishedWorks {
    val names: List<String> = listOf("arithmetic", "lists", "storage", "network", "mixed")

    fun named(name: String): (Int) -> Any =
        when (name) {
            "arithmetic" -> ::arithmetic
            "lists" -> ::lists
            "storage" -> ::storage
            "network" -> ::network
            "mixed" -> ::mixed
            else -> throw IllegalArgumentException("no such work: work=$name (${names.joinToString()})")
        }

    /**
     * Returns the work that warms up a way before `name` is measured. A list of `network` or `mixed` takes seconds on
     * one thread. `storage` starts the same threads in a tenth of a second.
     */
    fun warmUpOf(name: String): String = if (name == "network" || name == "mixed") "storage" else name

    private fun arithmetic(seed: Int): Any = seed.toFloat().pow(seed.toFloat()).toInt()

    private fun lists(seed: Int): Any =
        List(seed) { it }
            .map { it.toFloat() }
            .map { it + 0.3f }
            .associateBy { it.toString() }
            .mapValues { it.value * it.value }
            .filter { it.value > 5f }

    /** Parks once, as published. The JVM may end a park early, so the wait may be shorter in rare cases. */
    private fun storage(seed: Int): Any = LockSupport.parkNanos((500 + 10 * seed) * 1_000L)

    private fun network(seed: Int): Any = Thread.sleep(seed.toLong())

    private fun mixed(seed: Int): Any =
        when {
            seed % 5 == 0 -> network(seed)
            seed % 3 == 0 -> storage(seed)
            seed % 2 == 0 -> lists(seed)
            else -> arithmetic(seed)
        }
}
