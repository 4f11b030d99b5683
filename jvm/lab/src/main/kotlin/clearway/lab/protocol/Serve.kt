// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.protocol

import java.io.BufferedReader
import java.io.PrintStream
import java.nio.ByteBuffer
import java.util.Base64
import java.util.zip.Deflater
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.jsonObject
import org.HdrHistogram.Histogram

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

/**
 * The samples of one round, in ns. `unit` ("us" or "ms") is the unit for display. `batch` is the number of calls per
 * sample. Owns its array.
 */
internal class Samples(val unit: String, val ns: LongArray, val batch: Int = 1)

internal class Value(val unit: String, val value: Double)

/** Name of the value that reports an incomplete warm-up. The value is the duration of the warm-up, in ms. */
internal const val WARM_UP_CUT: String = "warmUpCut"

/** The result of one measurement, before the comparison with the scenario's expectation. */
internal class Measured(
    val samples: Map<String, Samples>,
    val values: Map<String, Value>,
    val result: JsonElement,
    val notes: List<String> = emptyList(),
) {
    /**
     * Returns the answer for the lab. Throws if the result is not the one that the scenario expects, because the time
     * of a wrong result means nothing.
     */
    fun answer(cell: Cell): JsonObject {
        val wrong = mismatch(cell.expected, result, cell.params)
        check(wrong == null) { "the work gave a wrong result: $wrong" }
        return buildJsonObject {
            put("samples", JsonObject(samples.mapValues { (_, set) -> set.toJson() }))
            put("values", JsonObject(values.mapValues { (_, value) -> value.toJson() }))
            put("result", result)
            put("notes", JsonArray(notes.map(::JsonPrimitive)))
        }
    }

    private fun Value.toJson() = buildJsonObject {
        put("unit", JsonPrimitive(unit))
        put("value", JsonPrimitive(value))
    }

    private fun Samples.toJson() = buildJsonObject {
        put("unit", JsonPrimitive(unit))
        put("n", JsonPrimitive(ns.size))
        put("hdr", JsonPrimitive(histogramText(ns)))
        if (batch > 1) put("batch", JsonPrimitive(batch))
        if (ns.size <= RAW_MAX) put("raw", JsonArray(ns.map(::JsonPrimitive)))
    }
}

/** Maximum number of samples that are also sent as numbers, so that a reader of the record can see each one. */
private const val RAW_MAX = 64

/** Returns an HdrHistogram of ns with three digits (V2, compressed, base64), as the other runners write it. */
internal fun histogramText(ns: LongArray): String {
    val histogram = Histogram(3)
    // A clock may step back by its granularity between two threads. Such a sample counts as 1 ns, the smallest value.
    for (value in ns) histogram.recordValue(maxOf(1, value))
    val bytes = ByteBuffer.allocate(histogram.neededByteBufferCapacity)
    val length = histogram.encodeIntoCompressedByteBuffer(bytes, Deflater.DEFAULT_COMPRESSION)
    return Base64.getEncoder().encodeToString(bytes.array().copyOf(length))
}
