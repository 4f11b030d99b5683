// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab

import clearway.lab.codec.LabCodecs
import clearway.lab.codec.measureCodec
import clearway.lab.fork.Forks
import clearway.lab.jni.Peers
import clearway.lab.memory.Fillers
import clearway.lab.memory.measureFills
import clearway.lab.protocol.Cell
import clearway.lab.protocol.Measured
import clearway.lab.protocol.Operations
import clearway.lab.protocol.serve
import clearway.lab.published.Ways
import clearway.lab.published.measureWays
import clearway.lab.push.PushMechanisms
import clearway.lab.push.measurePush
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject

/**
 * The lab's runner for the JVM. It speaks the protocol of docs/lab/runner-protocol.md on stdin and stdout. The runner
 * measures nothing itself: its child JVMs do.
 */
public fun main() {
    val output = System.out
    System.setOut(System.err)
    Runner().use { runner -> serve(System.`in`.bufferedReader(), output, runner) }
}

private class Runner : Operations, AutoCloseable {
    private val forks = Forks()

    override fun describe(): JsonObject = buildJsonObject {
        put("protocol", JsonPrimitive(1))
        put("host", JsonPrimitive("jvm"))
        put("runtime", JsonPrimitive("${System.getProperty("java.vm.name")} ${System.getProperty("java.vm.version")}"))
        put("fresh", JsonPrimitive("JVM for each work"))
        put("crossOriginIsolated", JsonPrimitive(true))
        put("clockStepUs", JsonPrimitive(clockStepUs()))
        put("mechanisms", JsonArray(Registry.entries().map(::entry)))
    }

    private fun entry(of: Registry.Entry): JsonObject = buildJsonObject {
        put("scenario", JsonPrimitive(of.scenario))
        put("mechanism", JsonPrimitive(of.mechanism))
        if (of.unavailable != null) put("unavailable", JsonPrimitive(of.unavailable))
    }

    override fun verify(cell: Cell): JsonObject = forks.ask("verify", cell)

    override fun measure(cell: Cell): JsonObject = forks.ask("measure", cell)

    override fun close() = forks.close()
}

/** Returns the smallest step between two readings of the clock, in us. */
internal fun clockStepUs(): Double {
    var smallest = Long.MAX_VALUE
    repeat(200) {
        val begin = System.nanoTime()
        var next = begin
        while (next == begin) next = System.nanoTime()
        smallest = minOf(smallest, next - begin)
    }
    return smallest / 1e3
}

/** All mechanisms that this runner can measure, by scenario. */
internal object Registry {
    /** A mechanism of a scenario. [unavailable] says why it cannot run here, or is null if it can. */
    class Entry(val scenario: String, val mechanism: String, val unavailable: String?)

    private val push = setOf("published-stream-jvm", "published-firehose-jvm")
    private val ways = setOf("published-executors", "executors-cold", "executors-started")
    private const val CODEC = "codec-jvm"
    private const val MEMORY = "memset-jvm"

    fun entries(): List<Entry> =
        ways.flatMap { scenario -> Ways.all.map { Entry(scenario, it.name, it.unavailable) } } +
            push.flatMap { scenario -> PushMechanisms.all.map { Entry(scenario, it.name, it.unavailable) } } +
            LabCodecs.names.map { Entry(CODEC, it, null) } +
            Entry(MEMORY, Fillers.REFERENCE, Peers.problem()) +
            Fillers.all.map { Entry(MEMORY, it.name, it.problem) }

    /**
     * Runs the measurement of a cell. Blocks. Throws if there is no such mechanism; the message lists the known ones.
     */
    fun measure(cell: Cell): Measured =
        when (cell.scenario) {
            in ways -> measureWays(cell)
            in push -> measurePush(cell)
            CODEC -> measureCodec(cell)
            MEMORY -> measureFills(cell)
            else ->
                throw IllegalArgumentException(
                    "no such scenario on this host: scenario=${cell.scenario} (${(push + ways + CODEC + MEMORY).joinToString()})"
                )
        }
}
