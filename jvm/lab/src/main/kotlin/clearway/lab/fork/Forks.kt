// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.fork

import clearway.lab.protocol.Cell
import kotlinx.serialization.json.JsonObject

/**
 * The child JVMs that measure. Keeps one JVM for each workload of *offload* and each scenario of *push* during the run.
 * There, rival mechanisms are measured in turn, in code that is compiled for that workload only. Every other
 * measurement gets a fresh JVM, because one measurement could affect the next. One thread uses it.
 */
internal class Forks : AutoCloseable {
    private val kept = HashMap<String, Fork>()

    fun ask(op: String, cell: Cell): JsonObject {
        val key = keyOf(cell) ?: return Fork().use { it.ask(op, cell) }
        val fork = kept.getOrPut(key) { Fork() }
        try {
            return fork.ask(op, cell)
        } catch (ended: ForkEnded) {
            kept.remove(key)
            fork.close()
            throw ended
        }
    }

    override fun close() {
        for (fork in kept.values) fork.close()
        kept.clear()
    }

    private fun keyOf(cell: Cell): String? =
        when (cell.scenario) {
            "works",
            "published-executors" -> "${cell.scenario} ${cell.text("work")}"
            "sizes",
            "changing-site",
            "stream-jvm",
            "firehose-jvm",
            "published-stream-jvm",
            "published-firehose-jvm" -> cell.scenario
            else -> null
        }
}
