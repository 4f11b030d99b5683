// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec.json

import clearway.channel.codec.CodecError
import clearway.channel.codec.CodecException
import clearway.channel.codec.HEX
import clearway.channel.codec.Writer
import clearway.channel.codec.utf8Size
import java.math.BigInteger

/** Writes the values of the standard codec as JSON, in the format of `JSON.stringify`. */
internal class JsonWriter(private val writer: Writer, private val depthMax: Int) {
    fun raw(text: String) {
        writer.room(text.length.toLong())
        writer.utf8(text, 0, text.length)
    }

    fun value(value: Any?, depth: Int) {
        when (value) {
            null -> raw("null")
            is String -> text(value)
            is Boolean -> raw(value.toString())
            is Int,
            is Short,
            is Byte -> raw(value.toString())
            is Long -> integer(value)
            is Double -> raw(numberText(value))
            is Float -> raw(numberText(value.toDouble()))
            is BigInteger -> raw(numberText(value.toDouble()))
            is Map<*, *> -> map(value, depth)
            is List<*> -> list(value, depth)
            is Array<*> -> list(value.asList(), depth)
            is ByteArray -> numbers(value.size, depth) { integer((value[it].toInt() and 0xff).toLong()) }
            is IntArray -> numbers(value.size, depth) { integer(value[it].toLong()) }
            is FloatArray -> numbers(value.size, depth) { raw(numberText(value[it].toDouble())) }
            is DoubleArray -> numbers(value.size, depth) { raw(numberText(value[it])) }
            // In JavaScript, the elements of a 64-bit list are bigints, which JSON cannot express.
            is LongArray -> if (value.isEmpty()) numbers(0, depth) {} else throw notEncodable("64-bit list")
            else -> throw notEncodable(value.javaClass.name)
        }
    }

    private fun notEncodable(what: String) =
        CodecException(CodecError.NOT_ENCODABLE, "JSON has no form for a $what", 0, traced = true)

    private fun integer(value: Long) {
        raw(if (value in -EXACT_MAX..EXACT_MAX) value.toString() else numberText(value.toDouble()))
    }

    private fun enter(depth: Int) {
        if (depth >= depthMax) throw writer.refusal(CodecError.TOO_DEEP, "values are nested deeper than $depthMax")
    }

    private fun list(list: List<*>, depth: Int) {
        enter(depth)
        raw("[")
        for ((index, each) in list.withIndex()) {
            if (index > 0) raw(",")
            value(each, depth + 1)
        }
        raw("]")
    }

    private fun map(map: Map<*, *>, depth: Int) {
        enter(depth)
        raw("{")
        var first = true
        for ((key, each) in map) {
            if (key !is String) throw notEncodable("key that is no text")
            if (!first) raw(",")
            first = false
            text(key)
            raw(":")
            value(each, depth + 1)
        }
        raw("}")
    }

    /** Writes a list of numbers as an object with its indices as keys, as `JSON.stringify` writes a typed array. */
    private inline fun numbers(count: Int, depth: Int, put: (Int) -> Unit) {
        enter(depth)
        raw("{")
        for (index in 0 until count) {
            raw(if (index > 0) ",\"$index\":" else "\"0\":")
            put(index)
        }
        raw("}")
    }

    fun textOrNull(text: String?) {
        if (text == null) raw("null") else text(text)
    }

    /** Writes a text in quotes. Uses JSON's short escapes, and `\u00xx` for other control characters. */
    fun text(text: String) {
        val size = utf8Size(text)
        if (size < 0) throw notEncodable("text with half of a surrogate pair")
        raw("\"")
        // The least that the rest of the text and the quote take. An escape takes more than the one byte counted here.
        var left = size + 1
        var from = 0
        for ((index, char) in text.withIndex()) {
            if (char.code >= 0x20 && char != '"' && char != '\\') continue
            left -= part(text, from, index, left) + 1
            raw(escaped(char))
            from = index + 1
        }
        part(text, from, text.length, left)
        raw("\"")
    }

    /** Writes a part of a text, after making room for `left` bytes. Returns the number of its bytes. */
    private fun part(text: String, from: Int, to: Int, left: Long): Int {
        writer.room(left)
        val begin = writer.offset
        writer.utf8(text, from, to)
        return writer.offset - begin
    }

    private fun escaped(char: Char): String =
        when (char) {
            '"' -> "\\\""
            '\\' -> "\\\\"
            '\b' -> "\\b"
            '\u000c' -> "\\f"
            '\n' -> "\\n"
            '\r' -> "\\r"
            '\t' -> "\\t"
            else -> "\\u00${HEX[char.code shr 4]}${HEX[char.code and 15]}"
        }
}
