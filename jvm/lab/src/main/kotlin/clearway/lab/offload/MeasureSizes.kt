// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

import clearway.lab.protocol.Cell
import clearway.lab.protocol.Measured
import clearway.lab.protocol.Value
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import org.openjdk.jmh.infra.Blackhole

/** Actions that only compute, in decades from 10 ns to 100 ms. They show the size from which other threads help. */
internal object Sizes {
    val names = listOf("10ns", "100ns", "1us", "10us", "100us", "1ms", "10ms", "100ms")

    fun ns(at: Int): Double = 10.0 * Math.pow(10.0, at.toDouble())

    /** Number of steps of the loop per nanosecond. Measured once per process, with compiled code. */
    private val stepsPerNs: Double by lazy {
        var best = Double.POSITIVE_INFINITY
        repeat(CALIBRATIONS) {
            val begin = System.nanoTime()
            sink = spin(CALIBRATION_STEPS)
            best = minOf(best, (System.nanoTime() - begin) / CALIBRATION_STEPS.toDouble())
        }
        1 / best
    }

    fun steps(at: Int): Int = maxOf(1, (ns(at) * stepsPerNs).toInt())

    /**
     * Runs xorshift steps. Each step depends on the step before, so neither compiler nor processor can shorten the
     * loop.
     */
    fun spin(steps: Int): Int {
        var x = 0x9E3779B9.toInt()
        repeat(steps) {
            x = x xor (x shl 13)
            x = x xor (x ushr 17)
            x = x xor (x shl 5)
        }
        return x
    }

    @Volatile private var sink = 0
    private const val CALIBRATIONS = 30
    private const val CALIBRATION_STEPS = 200_000
}

/** The action of one size. Runs its loop, and then returns the index of the size, which depends on the loop. */
private class Spinning(private val steps: Int, private val size: Int) : Action {
    // This generator never reaches zero, so the result is the index of the size. The compiler does not know that.
    override fun run(seed: Int): Double = if (Sizes.spin(steps) == 0) -1.0 else size.toDouble()
}

/** Measures every size with one strategy and one pool, which is warm for each size. */
internal fun measureSizes(cell: Cell): Measured {
    val most = cell.int("actions")
    val sweepNs = cell.number("sweepMs") * 1e6
    val into = blackhole()
    val values = LinkedHashMap<String, Value>()
    var right = 0
    Rehearsal.of(seedsOf("ascending", most), Spinning(Sizes.steps(0), 0))
    Strategies.named(cell.mechanism).open().use { strategy ->
        for (at in Sizes.names.indices) {
            val action = Spinning(Sizes.steps(at), at)
            // Runs fewer actions if they are long, so that a batch ends in time.
            val count = Math.round(sweepNs / Sizes.ns(at)).coerceIn(2, most.toLong()).toInt()
            val batches = Batches(strategy, action, IntArray(count) { it })
            timed(batches, sweepNs / 4, into)
            values["task" + Sizes.names[at]] = Value("us", median(timed(batches, sweepNs / 4, into)) / 1e3 / count)
            if (batches.run().all { it == at.toDouble() }) right++
        }
    }
    return Measured(emptyMap(), values, buildJsonObject { put("sizes", JsonPrimitive(right)) })
}

private fun timed(batches: Batches, forNs: Double, into: Blackhole): LongArray {
    val found = ArrayList<Long>()
    val begin = System.nanoTime()
    do found += batches.timeNs(1, into) while (System.nanoTime() - begin < forNs)
    return found.toLongArray()
}
