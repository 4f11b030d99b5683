// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.math.BigInteger
import java.nio.Buffer
import java.nio.ByteBuffer
import java.nio.DoubleBuffer
import java.nio.FloatBuffer
import java.nio.IntBuffer
import java.nio.LongBuffer

/** Encodes the values of one message with the standard codec. */
internal class ValueSink(val writer: Writer, limits: CodecLimits, private val extensions: Extensions) {
    private val depthMax = limits.depthMax

    /** Writes a value with its type byte. `depth` counts the lists, maps and extension values around it. */
    fun value(value: Any?, depth: Int) {
        when (value) {
            null -> writer.byte(Tag.NULL)
            is String -> text(value)
            is Int -> writer.int32(Tag.INT32, value)
            is Double -> writer.float64(Tag.FLOAT64, value)
            is Boolean -> writer.byte(if (value) Tag.TRUE else Tag.FALSE)
            is Long -> integer(value)
            else -> other(value, depth)
        }
    }

    fun text(text: String) {
        writer.byte(Tag.TEXT)
        writer.text(text)
    }

    private fun integer(value: Long) {
        val narrow = value.toInt()
        if (narrow.toLong() == value) writer.int32(Tag.INT32, narrow) else writer.int64(Tag.INT64, value)
    }

    // Extensions have priority over lists and maps, because the class of an extension may also be a list or a map.
    private fun other(value: Any, depth: Int) {
        val own = extensions.of(value)
        when {
            own != null -> extension(value, own, depth)
            value is Map<*, *> -> map(value, enter(depth))
            value is List<*> -> list(value, enter(depth))
            value is Array<*> -> list(value.asList(), enter(depth))
            value is Float -> writer.float64(Tag.FLOAT64, value.toDouble())
            value is Short || value is Byte -> writer.int32(Tag.INT32, (value as Number).toInt())
            value is BigInteger -> big(value)
            !numbers(value) ->
                throw writer.refusal(CodecError.NOT_ENCODABLE, "the codec has no form for a ${value.javaClass.name}")
        }
    }

    private fun enter(depth: Int): Int {
        if (depth >= depthMax)
            throw writer.refusal(CodecError.TOO_DEEP, "values are nested deeper than $depthMax, or in a circle")
        return depth + 1
    }

    private fun list(list: List<*>, inside: Int) {
        val size = list.size
        writer.byte(Tag.LIST)
        writer.size(size)
        if (list is RandomAccess) for (index in 0 until size) value(list[index], inside)
        else {
            var count = 0
            for (each in list) {
                count++
                value(each, inside)
            }
            if (count != size) throw changed()
        }
    }

    private fun map(map: Map<*, *>, inside: Int) {
        val size = map.size
        writer.byte(Tag.MAP)
        writer.size(size)
        var count = 0
        for (entry in map) {
            count++
            value(entry.key, inside)
            value(entry.value, inside)
        }
        if (count != size) throw changed()
    }

    // The count was written before the values and no longer matches them, so the message would be wrong.
    private fun changed() = writer.refusal(CodecError.NOT_ENCODABLE, "a list or a map changed while it was written")

    private fun big(value: BigInteger) {
        if (value.bitLength() < Long.SIZE_BITS) return integer(value.toLong())
        val digits = toHex(value)
        if (digits.size - (if (value.signum() < 0) 1 else 0) > BIG_DIGITS_MAX)
            throw writer.refusal(CodecError.TOO_LARGE, "a big integer of ${digits.size} hex digits")
        writer.byte(Tag.BIG)
        writer.size(digits.size)
        writer.raw(digits, 0, digits.size)
    }

    @Suppress("UNCHECKED_CAST") // `Extensions.of` found the extension by the value's class.
    private fun extension(value: Any, own: Extension<*>, depth: Int) {
        val inside = enter(depth)
        writer.byte(own.tag)
        (own as Extension<Any>).write(value, ValueWriter(writer) { value(it, inside) })
    }

    /** Writes a value that is a list of numbers of one type. Returns false for any other value. */
    private fun numbers(value: Any): Boolean {
        when (value) {
            is ByteArray -> {
                begin(Tag.BYTES, value.size, 1)
                writer.raw(value, 0, value.size)
            }
            is DoubleArray -> {
                begin(Tag.FLOAT64S, value.size, 8)
                if (value.size > LOOP_MAX) writer.space(value.size, 8).asDoubleBuffer().put(value)
                else for (each in value) writer.int64(each.toRawBits())
            }
            is IntArray -> {
                begin(Tag.INT32S, value.size, 4)
                if (value.size > LOOP_MAX) writer.space(value.size, 4).asIntBuffer().put(value)
                else for (each in value) writer.int32(each)
            }
            is LongArray -> {
                begin(Tag.INT64S, value.size, 8)
                if (value.size > LOOP_MAX) writer.space(value.size, 8).asLongBuffer().put(value)
                else for (each in value) writer.int64(each)
            }
            is FloatArray -> {
                begin(Tag.FLOAT32S, value.size, 4)
                if (value.size > LOOP_MAX) writer.space(value.size, 4).asFloatBuffer().put(value)
                else for (each in value) writer.int32(each.toRawBits())
            }
            is Buffer -> return buffer(value)
            else -> return false
        }
        return true
    }

    /**
     * Writes a buffer's remaining elements. The buffer's position does not change. Returns false for other types of
     * buffers.
     */
    private fun buffer(value: Buffer): Boolean {
        val count = value.remaining()
        when (value) {
            is ByteBuffer -> {
                begin(Tag.BYTES, count, 1)
                writer.space(count, 1).put(value.duplicate())
            }
            is IntBuffer -> {
                begin(Tag.INT32S, count, 4)
                writer.space(count, 4).asIntBuffer().put(value.duplicate())
            }
            is LongBuffer -> {
                begin(Tag.INT64S, count, 8)
                writer.space(count, 8).asLongBuffer().put(value.duplicate())
            }
            is FloatBuffer -> {
                begin(Tag.FLOAT32S, count, 4)
                writer.space(count, 4).asFloatBuffer().put(value.duplicate())
            }
            is DoubleBuffer -> {
                begin(Tag.FLOAT64S, count, 8)
                writer.space(count, 8).asDoubleBuffer().put(value.duplicate())
            }
            else -> return false
        }
        return true
    }

    private fun begin(tag: Int, count: Int, width: Int) {
        writer.byte(tag)
        writer.size(count)
        if (width > 1) writer.pad(width)
    }

    private companion object {
        /**
         * Maximum number of elements to copy with a loop. Above it, a bulk copy through a buffer is faster. Measured
         * with 4 to 64 elements.
         */
        const val LOOP_MAX = 24
    }
}
