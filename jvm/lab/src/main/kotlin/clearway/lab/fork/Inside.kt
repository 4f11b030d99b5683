// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.fork

import clearway.lab.Registry
import clearway.lab.protocol.Cell
import clearway.lab.protocol.Operations
import clearway.lab.protocol.serve
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject

/** The main program of a [Fork]. */
public fun main() {
    val output = System.out
    System.setOut(System.err)
    // Ends this process if the runner ends during a measurement.
    ProcessHandle.current().parent().ifPresent { parent -> parent.onExit().thenRun { Runtime.getRuntime().halt(1) } }
    serve(System.`in`.bufferedReader(), output, Inside)
    // Halts the JVM, because frameworks leave threads behind. All answers have been written.
    Runtime.getRuntime().halt(0)
}

private object Inside : Operations {
    override fun describe(): JsonObject = throw IllegalArgumentException("a fork measures; the runner describes")

    override fun verify(cell: Cell): JsonObject = buildJsonObject {
        put("verified", JsonPrimitive(true))
        put("result", measure(cell).getValue("result"))
    }

    override fun measure(cell: Cell): JsonObject = Registry.measure(cell).answer(cell)
}
