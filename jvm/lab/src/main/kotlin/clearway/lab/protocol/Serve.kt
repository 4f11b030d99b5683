// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.protocol

import java.io.BufferedReader
import java.io.PrintStream
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.jsonObject

/** The operations of a runner. An exception of an operation becomes an error answer. */
internal interface Operations {
    fun describe(): JsonObject

    fun verify(cell: Cell): JsonObject

    fun measure(cell: Cell): JsonObject
}

/**
 * Answers requests one at a time until `input` ends. Blocks. Only the protocol may write to `output`, so the caller
 * must have redirected `System.out`.
 */
internal fun serve(input: BufferedReader, output: PrintStream, operations: Operations) {
    while (true) {
        val line = input.readLine() ?: return
        if (line.isBlank()) continue
        output.println(answerTo(line, operations))
        output.flush()
    }
}

private fun answerTo(line: String, operations: Operations): JsonObject {
    var id: JsonElement = JsonPrimitive(0)
    return try {
        val request = Json.parseToJsonElement(line).jsonObject
        id = request["id"] ?: id
        val result = perform(request, operations)
        buildJsonObject {
            put("id", id)
            put("ok", JsonPrimitive(true))
            put("result", result)
        }
    } catch (error: Throwable) {
        // Catches any failure, including a linkage error of a library. The lab reports it and sends the next request.
        buildJsonObject {
            put("id", id)
            put("ok", JsonPrimitive(false))
            put(
                "error",
                buildJsonObject {
                    put("message", JsonPrimitive(error.message ?: error.toString()))
                    put("stack", JsonPrimitive(error.stackTraceToString()))
                },
            )
        }
    }
}

private fun perform(request: JsonObject, operations: Operations): JsonObject {
    fun cell() = Cell.of(requireNotNull(request["cell"]) { "the request has no cell" }.jsonObject)
    return when (val op = (request["op"] as? JsonPrimitive)?.content) {
        "describe" -> operations.describe()
        "verify" -> operations.verify(cell())
        "measure" -> operations.measure(cell())
        else -> throw IllegalArgumentException("unknown operation: op=$op (describe, verify, measure)")
    }
}
