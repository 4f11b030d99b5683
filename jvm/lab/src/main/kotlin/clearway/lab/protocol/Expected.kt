// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.protocol

import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.doubleOrNull

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
