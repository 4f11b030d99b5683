// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab

import clearway.lab.fork.Forks
import clearway.lab.jmh.measureByJmh
import clearway.lab.protocol.Cell
import clearway.lab.protocol.Operations
import clearway.lab.protocol.serve
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject

/**
 * The lab's runner for the JVM. It speaks the protocol of docs/lab/runner-protocol.md on stdin and stdout. The runner
 * measures nothing itself: its child JVMs do, or JMH's forks in the full profile.
 */
public fun main() {
    val output = System.out
    System.setOut(System.err)
    Runner(jmh = System.getenv("CLEARWAY_LAB_PROFILE") == "full").use { runner ->
        serve(System.`in`.bufferedReader(), output, runner)
    }
}

private class Runner(private val jmh: Boolean) : Operations, AutoCloseable {
    private val forks = Forks()

    override fun describe(): JsonObject = buildJsonObject {
        put("protocol", JsonPrimitive(1))
        put("host", JsonPrimitive("jvm"))
        put("runtime", JsonPrimitive("${System.getProperty("java.vm.name")} ${System.getProperty("java.vm.version")}"))
        put("fresh", JsonPrimitive(if (jmh) "process" else "JVM for each work"))
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

    override fun measure(cell: Cell): JsonObject =
        if (jmh && cell.scenario == "works") measureByJmh(cell).answer(cell) else forks.ask("measure", cell)

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
