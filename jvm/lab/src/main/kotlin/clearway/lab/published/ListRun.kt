// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.published

import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject

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
