// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.protocol

import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.doubleOrNull
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive

/** One measurement, as the lab sends it to a runner (docs/lab/runner-protocol.md). Immutable. */
internal data class Cell(
    val family: String,
    val scenario: String,
    val mechanism: String,
    val params: Map<String, JsonPrimitive>,
    val expected: JsonElement,
) {
    fun text(name: String): String {
        val value = params[name]
        require(value != null && value.isString) { "the parameter must be text: $name=$value" }
        return value.content
    }

    fun number(name: String): Double {
        val value = params[name]
        require(value != null && !value.isString && value.doubleOrNull != null) {
            "the parameter must be a number: $name=$value"
        }
        return value.content.toDouble()
    }

    fun int(name: String): Int = number(name).toInt()

    /** Returns [text], or `otherwise` if the cell has no such parameter. */
    fun text(name: String, otherwise: String): String = if (name in params) text(name) else otherwise

    /** Returns [number], or `otherwise` if the cell has no such parameter. */
    fun number(name: String, otherwise: Double): Double = if (name in params) number(name) else otherwise

    fun toJson(): JsonObject = buildJsonObject {
        put("family", JsonPrimitive(family))
        put("scenario", JsonPrimitive(scenario))
        put("mechanism", JsonPrimitive(mechanism))
        put("params", JsonObject(params))
        put("expected", expected)
    }

    companion object {
        fun of(json: JsonObject): Cell =
            Cell(
                json.word("family"),
                json.word("scenario"),
                json.word("mechanism"),
                (json["params"] ?: JsonObject(emptyMap())).jsonObject.mapValues { (_, value) -> value.jsonPrimitive },
                json["expected"] ?: JsonObject(emptyMap()),
            )

        private fun JsonObject.word(name: String): String {
            val value = this[name]
            require(value is JsonPrimitive && value.isString) { "the cell must have text: $name=$value" }
            return value.content
        }
    }
}

private val NAME = Regex("""\$(\w+)""")

/**
 * Compares `actual` with the pattern `expected`. Returns null if they match, or a sentence about the first difference.
 * Objects must match on the keys that the pattern names. The text `$name` is replaced by that parameter, with its type.
 * Inside a longer text, it is replaced by the parameter's text.
 */
internal fun mismatch(
    expected: JsonElement,
    actual: JsonElement,
    params: Map<String, JsonPrimitive>,
    path: String = "result",
): String? =
    when (expected) {
        is JsonPrimitive -> scalarMismatch(expected, actual, params, path)
        is JsonArray ->
            if (actual !is JsonArray) difference(path, expected, actual)
            else
                expected.indices.firstNotNullOfOrNull { at ->
                    mismatch(expected[at], actual.getOrNull(at) ?: JsonNull, params, "$path.$at")
                }
        is JsonObject ->
            if (actual !is JsonObject) difference(path, expected, actual)
            else
                expected.entries.firstNotNullOfOrNull { (key, wanted) ->
                    mismatch(wanted, actual[key] ?: JsonNull, params, "$path.$key")
                }
    }

private fun scalarMismatch(
    expected: JsonPrimitive,
    actual: JsonElement,
    params: Map<String, JsonPrimitive>,
    path: String,
): String? {
    if (!expected.isString || '$' !in expected.content)
        return differenceUnless(same(expected, actual), path, expected, actual)
    val missing = NAME.findAll(expected.content).map { it.groupValues[1] }.firstOrNull { it !in params }
    if (missing != null) return "$path: the scenario expects the parameter $missing, which this cell does not have"
    val whole = NAME.matchEntire(expected.content)
    val wanted =
        if (whole != null) params.getValue(whole.groupValues[1])
        else JsonPrimitive(NAME.replace(expected.content) { params.getValue(it.groupValues[1]).content })
    return differenceUnless(same(wanted, actual), path, wanted, actual)
}

/** Compares two scalars. Numbers are compared by value: 100 and 100.0 are the same number in JSON. */
private fun same(a: JsonPrimitive, b: JsonElement): Boolean {
    if (b !is JsonPrimitive || a.isString != b.isString) return false
    if (a.isString) return a.content == b.content
    val number = a.doubleOrNull
    return if (number != null) number == b.doubleOrNull else a.content == b.content
}

private fun differenceUnless(equal: Boolean, path: String, expected: JsonElement, actual: JsonElement): String? =
    if (equal) null else difference(path, expected, actual)

private fun difference(path: String, expected: JsonElement, actual: JsonElement): String =
    "$path: expected $expected, got $actual"
