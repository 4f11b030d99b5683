// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.protocol

import kotlinx.serialization.json.JsonElement
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
