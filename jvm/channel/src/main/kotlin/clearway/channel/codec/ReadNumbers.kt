// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.nio.ByteBuffer
import java.nio.ByteOrder

/** Reads the list of numbers that `tag` announces. Returns null if `tag` is not the type byte of a list of numbers. */
internal fun readNumbers(reader: Reader, tag: Int): Any? =
    when (tag) {
        Tag.BYTES -> {
            val size = reader.sized()
            if (reader.owned) reader.part(size) else reader.copy(size)
        }
        Tag.INT32S,
        Tag.FLOAT32S -> numbers(reader, tag, 4)
        Tag.INT64S,
        Tag.FLOAT64S -> numbers(reader, tag, 8)
        else -> null
    }

private fun numbers(reader: Reader, tag: Int, width: Int): Any {
    val from = reader.at
    val count = reader.size()
    reader.pad(width, from)
    reader.need(count * width, from)
    if (reader.owned) return typed(reader.part(count.toInt() * width), tag)
    val numbers = list(reader.view, reader.at, count.toInt(), tag)
    reader.at += count.toInt() * width
    return numbers
}

/**
 * Maximum number of elements to copy with a loop. Above it, a bulk copy through a buffer is faster. Measured with 4 to
 * 64 elements.
 */
private const val LOOP_MAX = 24

private fun list(view: ByteBuffer, from: Int, count: Int, tag: Int): Any {
    if (count > LOOP_MAX) return copied(view, from, count, tag)
    return when (tag) {
        Tag.INT32S -> IntArray(count) { view.getInt(from + it * 4) }
        Tag.FLOAT32S -> FloatArray(count) { view.getFloat(from + it * 4) }
        Tag.INT64S -> LongArray(count) { view.getLong(from + it * 8) }
        else -> DoubleArray(count) { view.getDouble(from + it * 8) }
    }
}

private fun copied(view: ByteBuffer, from: Int, count: Int, tag: Int): Any {
    val rest = view.duplicate()
    rest.position(from)
    rest.order(ByteOrder.LITTLE_ENDIAN)
    return when (tag) {
        Tag.INT32S -> IntArray(count).also { rest.asIntBuffer().get(it) }
        Tag.FLOAT32S -> FloatArray(count).also { rest.asFloatBuffer().get(it) }
        Tag.INT64S -> LongArray(count).also { rest.asLongBuffer().get(it) }
        else -> DoubleArray(count).also { rest.asDoubleBuffer().get(it) }
    }
}

/** Returns a view of the bytes as the list type of `tag`. */
private fun typed(bytes: ByteBuffer, tag: Int): Any =
    when (tag) {
        Tag.BYTES -> bytes
        Tag.INT32S -> bytes.asIntBuffer()
        Tag.FLOAT32S -> bytes.asFloatBuffer()
        Tag.INT64S -> bytes.asLongBuffer()
        else -> bytes.asDoubleBuffer()
    }

/** Reads a reference to an attachment. Returns a view if the codec owns the message, otherwise a copy. */
internal fun readAttached(reader: Reader, attached: List<ByteBuffer>): Any {
    val from = reader.at
    val tag = reader.byte()
    val index = reader.size()
    if (index >= attached.size)
        throw reader.refusal(CodecError.MALFORMED, "no attachment $index of ${attached.size}", from)
    val bytes = attached[index.toInt()].duplicate().order(ByteOrder.LITTLE_ENDIAN)
    val width =
        when (tag) {
            Tag.BYTES -> 1
            Tag.INT32S,
            Tag.FLOAT32S -> 4
            Tag.INT64S,
            Tag.FLOAT64S -> 8
            else -> throw reader.refusal(CodecError.MALFORMED, "an attachment is no list of type $tag", from)
        }
    if (bytes.remaining() % width != 0)
        throw reader.refusal(CodecError.MALFORMED, "${bytes.remaining()} bytes are no elements of $width", from)
    reader.attachedBytes += bytes.remaining()
    if (reader.owned) return typed(bytes, tag)
    // If a message refers to one attachment twice with the same type, both places get the same list, as in the sender's
    // message. Separate copies could turn a message of 90 KB into 500 MB.
    return reader.copies.getOrPut(index * Tag.EXTENSION_MIN + tag) {
        if (tag == Tag.BYTES) ByteArray(bytes.remaining()).also { bytes.get(it) }
        else list(bytes, bytes.position(), bytes.remaining() / width, tag)
    }
}
