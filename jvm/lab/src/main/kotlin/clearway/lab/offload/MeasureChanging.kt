// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

import clearway.lab.protocol.Cell
import clearway.lab.protocol.Measured
import clearway.lab.protocol.Value
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject

/**
 * Measures one site (a place that submits work) whose work changes from arithmetic to storage and back to arithmetic.
 * The strategy is not notified of the changes.
 */
internal fun measureChanging(cell: Cell): Measured {
    val count = cell.int("batches")
    val seeds = seedsOf(cell.text("order", "ascending"), cell.number("actions", 100.0).toInt())
    val phases = listOf("arithmetic", "storage", "arithmetic").map { Works.named(it) }
    val into = blackhole()
    var checksum = 0.0
    Rehearsal.of(seeds, Changing(phases[0]), Changing(phases[1]))
    val found =
        Strategies.named(cell.mechanism).open().use { strategy ->
            val changing = Changing(phases.first())
            val batches = Batches(strategy, changing, seeds)
            // Lets the strategy learn the site before the site's work changes.
            batches.timeNs(count, into)
            phases.map { phase ->
                changing.phase = phase
                LongArray(count) { batches.timeNs(1, into) }.also { checksum += tally(batches.run()).second }
            }
        }
    val (before, during, back) = found
    val values =
        mapOf(
            "total" to Value("ms", found.sumOf { it.sum() } / 1e6),
            "before" to Value("ms", settled(before) / 1e6),
            "firstAfter" to Value("ms", during.first() / 1e6),
            "after" to Value("ms", settled(during) / 1e6),
            "recover" to Value("count", recovery(during).toDouble()),
            "firstBack" to Value("ms", back.first() / 1e6),
            "back" to Value("ms", settled(back) / 1e6),
            "recoverBack" to Value("count", recovery(back).toDouble()),
        )
    val result = buildJsonObject {
        put("phases", JsonPrimitive(phases.size))
        put("checksum", JsonPrimitive(Math.round(checksum)))
    }
    return Measured(emptyMap(), values, result)
}

/** An action that delegates to the action of the current phase. Strategy and compiler see one action in all phases. */
private class Changing(@Volatile var phase: Action) : Action {
    override fun run(seed: Int): Double = phase.run(seed)
}

/** Returns the median of the second half of the times: the strategy's steady state. */
internal fun settled(ns: LongArray): Double = median(ns.copyOfRange(ns.size / 2, ns.size))

/**
 * Returns how many batches the strategy needs to recover. It has recovered when two consecutive batches are at most a
 * quarter slower than the steady state. These two are not counted. Returns the number of all batches if it never
 * recovers.
 */
internal fun recovery(ns: LongArray): Int {
    val near = settled(ns) * 1.25
    for (at in 0 until ns.size - 1) if (ns[at] <= near && ns[at + 1] <= near) return at
    return ns.size
}
