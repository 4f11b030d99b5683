// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.math.BigInteger
import java.nio.Buffer
import java.nio.ByteBuffer
import java.nio.DoubleBuffer
import java.nio.FloatBuffer
import java.nio.IntBuffer
import java.nio.LongBuffer

/** Decodes the values of one message with the standard codec. */
internal class ValueSource(
    val reader: Reader,
    limits: CodecLimits,
    private val extensions: Extensions,
    valuesMax: Int,
) {
    private val depthMax = limits.depthMax
    private val itemsMax = minOf(limits.itemsMax, valuesMax)
    private var itemsLeft = itemsMax.toLong()

    /** Reads a value with its type byte. `depth` counts the lists, maps and extension values around it. */
    fun value(depth: Int): Any? {
        val reader = reader
        return when (val tag = reader.byte()) {
            Tag.NULL -> null
            Tag.TRUE -> true
            Tag.FALSE -> false
            Tag.INT32 -> reader.int32()
            Tag.INT64 -> narrow(reader.int64())
            Tag.BIG -> big()
            Tag.FLOAT64 -> reader.float64()
            Tag.TEXT -> reader.text()
            Tag.LIST -> list(enter(depth))
            Tag.MAP -> map(enter(depth))
            else -> readNumbers(reader, tag) ?: extension(tag, depth)
        }
    }

    private fun enter(depth: Int): Int {
        if (depth >= depthMax)
            throw reader.refusal(CodecError.TOO_DEEP, "values are nested deeper than $depthMax", reader.at - 1)
        return depth + 1
    }

    /**
     * Reads a count of values. Each value takes at least `each` bytes. Throws `truncated` if the rest of the message is
     * too short, or `too-large` above the limit on values.
     */
    private fun count(each: Int): Int {
        val from = reader.at
        val count = reader.size()
        reader.need(count * each, from)
        charge(count * each, from)
        return count.toInt()
    }

    /** Counts values of the message. Throws `too-large` if they are too many. */
    private fun charge(values: Long, from: Int) {
        itemsLeft -= values
        if (itemsLeft < 0) throw reader.refusal(CodecError.TOO_LARGE, "more than $itemsMax values", from)
    }

    // The list grows with its values. The announced count does not set its capacity above [FIRST], because each of
    // several nested lists could announce the whole rest of the message. In memory, an element takes more than its one
    // byte in the message.
    private fun list(inside: Int): List<Any?> {
        val count = count(1)
        val list = ArrayList<Any?>(minOf(count, FIRST))
        for (each in 0 until count) list.add(value(inside))
        return list
    }

    private fun map(inside: Int): Map<Any?, Any?> {
        val reader = reader
        val from = reader.at - 1
        val count = count(2)
        var only: Class<*>? = null
        var mixed: MixedKeys? = null
        val map = LinkedHashMap<Any?, Any?>(minOf(count, FIRST) * 4 / 3 + 1)
        for (each in 0 until count) {
            val isText = reader.at < reader.end && reader.bytes[reader.at].toInt() == Tag.TEXT
            val key =
                if (isText) {
                    reader.at++
                    reader.key()
                } else keyOf(value(inside))
            // The last value of a repeated key wins. The key keeps the position of its first entry.
            val before = map.size
            map.put(key, value(inside))
            if (map.size == before) continue
            val type = key?.javaClass
            val seen = mixed
            if (seen != null) seen.add(key)
            else if (before == 0) only = type
            else if (type !== only) mixed = MixedKeys().also { map.keys.forEach(it::add) }
            if (mixed?.isFlooded == true)
                throw reader.refusal(CodecError.TOO_LARGE, "too many keys of several types have the same hash", from)
        }
        return map
    }

    private fun big(): Any {
        val from = reader.at
        val size = reader.sized()
        val first = reader.at
        val negative = size > 0 && reader.bytes[first].toInt() == '-'.code
        val digits = if (negative) size - 1 else size
        if (digits > BIG_DIGITS_MAX)
            throw reader.refusal(CodecError.TOO_LARGE, "a big integer of $digits hex digits", from)
        reader.at = first + size
        val wrong = validUntil(reader.bytes, first, reader.at)
        if (wrong < reader.at) throw reader.refusal(CodecError.BAD_UTF8, "a big integer is not UTF-8", wrong)
        val value = fromHex(reader.bytes, reader.at - digits, digits, negative)
        return value ?: throw reader.refusal(CodecError.MALFORMED, "a big integer is not written in hex digits", from)
    }

    private fun extension(tag: Int, depth: Int): Any? {
        val from = reader.at - 1
        val attached = reader.attached
        if (tag == Tag.ATTACHED && attached != null) return readAttached(reader, attached)
        val own =
            extensions.byTag[tag]
                ?: throw reader.refusal(
                    CodecError.UNKNOWN_TAG,
                    "type $tag is ${if (tag < Tag.EXTENSION_MIN) "reserved" else "no extension here"}",
                    from,
                )
        val inside = enter(depth)
        try {
            return own.read(
                ValueReader(reader) {
                    charge(1, reader.at)
                    value(inside)
                }
            )
        } catch (refused: CodecException) {
            throw refused
        } catch (thrown: RuntimeException) {
            throw reader.refusal(CodecError.MALFORMED, "the extension of type $tag could not be read", from, thrown)
        }
    }

    private companion object {
        /**
         * Maximum initial capacity of a list or a map. Most need no more. A larger announced count does not allocate
         * memory in advance.
         */
        const val FIRST = 64
    }
}

/**
 * Returns an integer in the narrowest type that holds it. Equal integers then have the same class and compare as equal.
 */
internal fun narrow(value: Long): Any = if (value == value.toInt().toLong()) value.toInt() else value

internal fun narrow(value: BigInteger): Any = if (value.bitLength() < Long.SIZE_BITS) narrow(value.toLong()) else value

/**
 * Converts a value for use as a map key. A list or a map that is a key equals only itself, as an array does. If such
 * keys were compared by their contents, a peer could craft many keys with the same hash. One lookup would then take too
 * long.
 */
internal fun keyOf(value: Any?): Any? =
    when (value) {
        is ArrayList<*> -> KeyList(value)
        is LinkedHashMap<*, *> -> KeyMap(value)
        is Buffer -> arrayOf(value)
        else -> value
    }

private fun arrayOf(view: Buffer): Any =
    when (view) {
        is ByteBuffer -> ByteArray(view.remaining()).also { view.duplicate().get(it) }
        is IntBuffer -> IntArray(view.remaining()).also { view.duplicate().get(it) }
        is LongBuffer -> LongArray(view.remaining()).also { view.duplicate().get(it) }
        is FloatBuffer -> FloatArray(view.remaining()).also { view.duplicate().get(it) }
        is DoubleBuffer -> DoubleArray(view.remaining()).also { view.duplicate().get(it) }
        else -> view
    }

private class KeyList(values: List<Any?>) : ArrayList<Any?>(values) {
    override fun equals(other: Any?) = this === other

    override fun hashCode() = System.identityHashCode(this)
}

private class KeyMap(values: Map<*, *>) : LinkedHashMap<Any?, Any?>(values) {
    override fun equals(other: Any?) = this === other

    override fun hashCode() = System.identityHashCode(this)
}
