// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter

/**
 * Writes maps, lists, text, numbers, booleans and null as JSON. Leaves out a key whose value is [ABSENT]. Throws
 * `IllegalArgumentException` for NaN, infinity and other classes. The meter has its own writer, because it depends on
 * no JSON library.
 */
internal fun json(value: Any?): String = StringBuilder().also { write(value, it) }.toString()

/** Marks a key that [json] leaves out. */
internal object ABSENT

private fun write(value: Any?, out: StringBuilder) {
    when (value) {
        null -> out.append("null")
        is String -> quote(value, out)
        is Boolean,
        is Int,
        is Long -> out.append(value)
        is Double -> number(value, out)
        is Map<*, *> -> members(value, out)
        is List<*> -> elements(value, out)
        else -> throw IllegalArgumentException("no JSON for this: class=${value.javaClass.name}")
    }
}

private fun members(map: Map<*, *>, out: StringBuilder) {
    out.append('{')
    var first = true
    for ((key, value) in map) {
        if (value === ABSENT) continue
        if (!first) out.append(',')
        first = false
        quote(key.toString(), out)
        write(value, out.append(':'))
    }
    out.append('}')
}

private fun elements(list: List<*>, out: StringBuilder) {
    out.append('[')
    for ((index, value) in list.withIndex()) {
        if (index > 0) out.append(',')
        write(value, out)
    }
    out.append(']')
}

private fun number(value: Double, out: StringBuilder) {
    require(value.isFinite()) { "JSON has no such number: value=$value" }
    // Writes whole numbers without a decimal point, as the meters in other languages do.
    if (value == Math.rint(value) && Math.abs(value) < 1e15) out.append(value.toLong()) else out.append(value)
}

private fun quote(text: String, out: StringBuilder) {
    out.append('"')
    for (c in text) {
        when {
            c == '"' || c == '\\' -> out.append('\\').append(c)
            c < ' ' || c.isSurrogate() || c == '\u2028' || c == '\u2029' -> out.append("\\u%04x".format(c.code))
            else -> out.append(c)
        }
    }
    out.append('"')
}
