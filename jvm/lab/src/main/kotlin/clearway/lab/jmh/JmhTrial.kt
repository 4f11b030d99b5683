// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.jmh

import clearway.lab.offload.Batches
import clearway.lab.offload.Meters
import clearway.lab.offload.Rehearsal
import clearway.lab.offload.Strategies
import clearway.lab.offload.Strategy
import clearway.lab.offload.WorksLoad
import clearway.lab.offload.resultOf
import clearway.lab.protocol.Cell
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject

/** The state of a benchmark in one of JMH's forks. It is public only because Java code uses it. */
public class JmhTrial private constructor(private val strategy: Strategy, private val batches: Batches) :
    AutoCloseable {
    /** Runs one batch and returns its results. The next batch overwrites them. Blocks. */
    public fun batch(): DoubleArray = batches.run()

    /**
     * Writes the lab's other figures to the file that the property [RESULT_PROPERTY] names, and closes the strategy.
     */
    override fun close() {
        java.io
            .File(System.getProperty(RESULT_PROPERTY))
            .writeText("$coldNs\n${Meters.peakThreads() - before}\n$result\n")
        strategy.close()
    }

    public companion object {
        internal const val RESULT_PROPERTY: String = "clearway.lab.jmh.result"
        private var coldNs = 0L
        private var result = ""
        private var before = 0

        /** Opens the strategy that `cell` names, and times its first batch. */
        @JvmStatic
        public fun open(cell: String): JmhTrial {
            val requested = Cell.of(Json.parseToJsonElement(cell) as JsonObject)
            val load = WorksLoad(requested)
            load.rehearse()
            Rehearsal.letSharedThreadsEnd(requested.mechanism)
            before = Meters.threadCount()
            Meters.resetPeak()
            val begin = System.nanoTime()
            val strategy = Strategies.named(requested.mechanism).open()
            val batches = Batches(strategy, load.action, load.seeds)
            val first = batches.run()
            coldNs = System.nanoTime() - begin
            result = resultOf(first).toString()
            return JmhTrial(strategy, batches)
        }
    }
}
