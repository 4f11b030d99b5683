// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.protocol

import clearway.lab.fork.Fork
import java.io.ByteArrayOutputStream
import java.io.PrintStream
import java.nio.ByteBuffer
import java.util.Base64
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.jsonObject
import org.HdrHistogram.Histogram
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

internal class ServeTest {
    private val operations =
        object : Operations {
            override fun describe() = JsonObject(mapOf("host" to JsonPrimitive("jvm")))

            override fun verify(cell: Cell): JsonObject = throw NoClassDefFoundError("a class of ${cell.mechanism}")

            override fun measure(cell: Cell) =
                Measured(
                        mapOf("latency" to Samples("us", longArrayOf(1_000, 2_000, 0))),
                        mapOf("total" to Value("ms", 5.0)),
                        JsonObject(mapOf("ran" to JsonPrimitive(cell.int("actions")))),
                    )
                    .answer(cell)
        }

    private fun answers(vararg lines: String): List<JsonObject> {
        val output = ByteArrayOutputStream()
        serve(lines.joinToString("\n").reader().buffered(), PrintStream(output, true, Charsets.UTF_8), operations)
        return output
            .toString(Charsets.UTF_8)
            .lines()
            .filter { it.isNotBlank() }
            .map { Json.parseToJsonElement(it).jsonObject }
    }

    private fun request(id: Int, op: String, expected: Int) =
        """{"id": $id, "op": "$op", "cell": {"family": "f", "scenario": "s", "mechanism": "m", "params": {"actions": 7}, "expected": {"ran": $expected}}}"""

    private fun JsonObject.message() = (getValue("error").jsonObject.getValue("message") as JsonPrimitive).content

    @Test
    fun `the runner answers each request with its number and ignores blank lines`() {
        val (described, measured) = answers("""{"id": 4, "op": "describe"}""", "", request(5, "measure", 7))
        assertEquals(JsonPrimitive(4), described["id"])
        assertEquals(JsonPrimitive(true), measured["ok"])
        assertEquals(JsonPrimitive(5), measured["id"])
    }

    @Test
    fun `the runner answers wrong results, linkage errors and bad JSON with errors and serves the next request`() {
        val found =
            answers(request(1, "measure", 8), request(2, "verify", 7), "hello", """{"id": 3, "op": "describe"}""")
        assertEquals("the work gave a wrong result: result.ran: expected 8, got 7", found[0].message())
        assertEquals("a class of m", found[1].message())
        assertEquals(JsonPrimitive(false), found[2]["ok"])
        assertEquals(JsonPrimitive(true), found[3]["ok"])
    }

    @Test
    fun `samples are sent as a portable histogram, and as numbers when they are few`() {
        val latency =
            answers(request(1, "measure", 7)).single().getValue("result").jsonObject.getValue("samples").jsonObject
        val set = latency.getValue("latency").jsonObject
        assertEquals("[1000,2000,0]", set.getValue("raw").toString())
        val bytes = Base64.getDecoder().decode((set.getValue("hdr") as JsonPrimitive).content)
        val histogram = Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(bytes), 0)
        assertEquals(3, histogram.totalCount)
        // A sample of 0 from a coarse clock counts as 1, the smallest value of the histogram.
        assertEquals(1, histogram.minNonZeroValue)
        assertEquals(2_000, histogram.maxValue)
    }
}

internal class ExpectedTest {
    private val params = mapOf("rows" to JsonPrimitive(3), "name" to JsonPrimitive("x"))

    private fun compare(expected: String, actual: String) =
        mismatch(Json.parseToJsonElement(expected), Json.parseToJsonElement(actual), params)

    @Test
    fun `objects match on the keys that the pattern names`() {
        assertNull(compare("""{"a": 1}""", """{"a": 1.0, "b": 2}"""))
        assertEquals("result.a: expected 1, got 2", compare("""{"a": 1}""", """{"a": 2}"""))
        assertEquals("result.a: expected 1, got null", compare("""{"a": 1}""", "{}"))
        assertEquals("""result: expected {"a":1}, got [1]""", compare("""{"a": 1}""", "[1]"))
    }

    @Test
    fun `parameters are replaced with their type, and inside text by their digits`() {
        assertNull(compare(""""${'$'}rows"""", "3"))
        assertEquals("""result: expected 3, got "3"""", compare(""""${'$'}rows"""", """"3""""))
        assertNull(compare(""""student ${'$'}rows of ${'$'}name"""", """"student 3 of x""""))
    }

    @Test
    fun `a parameter that the cell does not have is named`() {
        assertEquals(
            "result: the scenario expects the parameter more, which this cell does not have",
            compare(""""${'$'}more"""", "3"),
        )
    }

    @Test
    fun `lists match element by element`() {
        assertNull(compare("[1, true, null]", "[1, true, null]"))
        assertEquals("result.1: expected true, got false", compare("[1, true]", "[1, false]"))
    }
}

/** How a measuring JVM is started. */
internal class ForkTest {
    @Test
    fun `a JVM gets the options of its cell after the usual ones`() {
        val usual = Fork.command("")
        val command = Fork.command("-XX:ActiveProcessorCount=8 -Da=b")
        assertEquals(usual.size + 2, command.size)
        val at = command.indexOf("-XX:ActiveProcessorCount=8")
        assertEquals(usual[0], command[0])
        assertEquals("-Da=b", command[at + 1])
        assertTrue(command.subList(1, at).containsAll(Fork.options))
    }

    @Test
    fun `a JVM is started by the program of its cell`() {
        assertEquals(listOf("taskset", "-c", "0") + Fork.command(""), Fork.command("taskset -c 0"))
    }
}
