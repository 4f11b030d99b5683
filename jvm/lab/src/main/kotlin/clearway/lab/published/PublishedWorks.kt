// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.published

import java.util.concurrent.locks.LockSupport
import kotlin.math.pow
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject

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

/**
 * Runs one way with the list of the seeds 0 until `actions`, and keeps the results.
 *
 * The action stores the result of its seed. The published code drops it, and then HotSpot may remove the whole work of
 * a way that runs on the calling thread. One thread uses an object of this class.
 */
internal class ListRun(private val way: Way, private val work: (Int) -> Any, actions: Int) {
    private val list = List(actions) { it }
    private val results = arrayOfNulls<Any>(actions)
    private val action: (Int) -> Any = { seed -> work(seed).also { results[seed] = it } }

    /** Runs the list once. Blocks. */
    fun run() = way.run(list, action)

    /** Removes all results, and returns the time of `count` consecutive runs, in ns. */
    fun timeNs(count: Int): Long {
        results.fill(null)
        val begin = System.nanoTime()
        repeat(count) { run() }
        return System.nanoTime() - begin
    }

    /** Runs the list `times` times and counts the objects that the JVM allocates, and the threads of the last run. */
    fun observe(times: Int): Observed {
        val threads = arrayOfNulls<Thread>(list.size)
        val observing = { seed: Int ->
            threads[seed] = Thread.currentThread()
            action(seed)
        }
        val objects = AllocationCount.of(times) { way.run(list, observing) }
        return Observed(threads.toSet().size, objects)
    }

    /** Returns what the scenario checks: the number of results since they were removed, and their sum. */
    fun tally(): JsonElement = buildJsonObject {
        put("done", JsonPrimitive(results.count { it != null }))
        put("checksum", JsonPrimitive(results.withIndex().sumOf { (seed, result) -> valueOf(seed, result) }))
    }

    /** Returns the results since they were removed, by seed. A missing result is null. */
    fun results(): List<Any?> = results.toList()
}

/** The number of threads that ran the actions of a list, and the objects that the JVM allocated meanwhile. */
internal class Observed(val threads: Int, val objects: AllocationCount)

/** The largest value that one result adds to a checksum. Most results of `arithmetic` are the largest Int. */
private const val VALUE_MAX = 1_000

/** Returns what a result adds to the checksum. A work that only waits has no value, so its seed counts. */
private fun valueOf(seed: Int, result: Any?): Int =
    when (result) {
        null -> 0
        is Int -> minOf(result, VALUE_MAX)
        is Map<*, *> -> result.size
        else -> seed
    }
