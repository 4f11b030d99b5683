// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.metrics

/** Labels as they are written between braces in Prometheus's formats. */
internal object Labels {
    /** The labels that the metrics themselves have, or that Prometheus computes with. */
    private val reserved = listOf("cause", "mark", "le", "quantile")
    private val allowed = Regex("[A-Za-z_][A-Za-z0-9_]*")

    /**
     * Returns the text of labels in the order of their names, without empty ones: Prometheus takes an empty label for
     * none. Refuses names that Prometheus does not allow.
     */
    fun checked(labels: Map<String, String>): String {
        for (name in labels.keys) {
            require(allowed.matches(name) && !name.startsWith("__") && name !in reserved) {
                "a label must have letters, digits and _ (not __ at the start, not ${reserved.joinToString()}): label=$name"
            }
        }
        val filled = labels.filterValues { it.isNotEmpty() }.toSortedMap()
        return filled.entries.joinToString(",") { (name, value) -> text(name, value) }
    }

    fun text(name: String, value: String): String = "$name=\"${escaped(value)}\""

    fun joined(vararg labels: String): String = labels.filter { it.isNotEmpty() }.joinToString(",")

    /**
     * Escapes the characters that end or change a label's value. Different values stay different.
     *
     * Half of a surrogate pair has no form in UTF-8, and Prometheus's parser takes a zero character for the end of the
     * text. Each becomes the replacement character and the code in four hexadecimal digits. So does the replacement
     * character itself.
     */
    private fun escaped(value: String): String = buildString {
        var at = 0
        while (at < value.length) {
            val point = value.codePointAt(at)
            at += Character.charCount(point)
            when {
                point == '\n'.code -> append("\\n")
                point == '"'.code || point == '\\'.code -> append('\\').appendCodePoint(point)
                point == 0 || point == 0xfffd || point in 0xd800..0xdfff ->
                    append('\ufffd').append(point.toString(16).padStart(4, '0'))
                else -> appendCodePoint(point)
            }
        }
    }
}
