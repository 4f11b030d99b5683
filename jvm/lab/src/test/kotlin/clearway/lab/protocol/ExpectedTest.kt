// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.protocol

import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonPrimitive
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test

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
