// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.nio.ByteBuffer

/**
 * Adds an application's own type to the standard codec. On the wire, a value of the type is a type byte from 128 to
 * 255, then the body that [write] writes. Both ends must register the extension. Several threads may call one extension
 * at the same time.
 *
 * @property tag the type byte; a codec accepts each type byte once
 * @property type the class whose instances the extension encodes; instances of its subclasses do not count
 */
public abstract class Extension<T : Any> protected constructor(public val tag: Int, public val type: Class<T>) {
    init {
        require(tag in Tag.EXTENSION_MIN..Tag.EXTENSION_MAX) { "tag must be from 128 to 255: tag=$tag" }
    }

    /** Writes the body. Exceptions of this function reach the caller of `encode`. */
    public abstract fun write(value: T, writer: ValueWriter)

    /**
     * Reads exactly the bytes that [write] wrote. A RuntimeException other than a [CodecException] becomes the cause of
     * a `malformed` error.
     */
    public abstract fun read(reader: ValueReader): T
}

/** The extensions of a codec: by class for encoding, by type byte for decoding. */
internal class Extensions(private val byType: Map<Class<*>, Extension<*>>, val byTag: Array<Extension<*>?>) {
    val none = byType.isEmpty()

    fun of(value: Any): Extension<*>? = if (none) null else byType[value.javaClass]

    operator fun plus(added: List<Extension<*>>): Extensions {
        val types = HashMap(byType)
        val tags = byTag.copyOf()
        for (each in added) {
            require(tags[each.tag] == null) { "tag must be used once: tag=${each.tag}" }
            require(each.type !in types) { "type must be used once: type=${each.type.name}" }
            tags[each.tag] = each
            types[each.type] = each
        }
        return Extensions(types, tags)
    }

    companion object {
        val NONE = Extensions(emptyMap(), arrayOfNulls(Tag.EXTENSION_MAX + 1))
    }
}

/** Writes an extension's body. Do not use the writer after `write` returned, or on another thread. */
public class ValueWriter internal constructor(private val writer: Writer, private val put: (Any?) -> Unit) {
    /** The number of bytes in the message so far. */
    public val offset: Int
        get() = writer.offset

    /** Writes the lowest eight bits of `value`. */
    public fun uint8(value: Int): Unit = writer.byte(value)

    public fun int32(value: Int): Unit = writer.int32(value)

    public fun int64(value: Long): Unit = writer.int64(value)

    /** Writes padding up to a multiple of 8, then a float64. */
    public fun float64(value: Double) {
        writer.pad(8)
        writer.int64(value.toRawBits())
    }

    /** Writes a size or a count in 1, 3 or 5 bytes. Throws IllegalArgumentException if it is negative. */
    public fun size(value: Int) {
        require(value >= 0) { "size must be 0 or more: size=$value" }
        writer.size(value)
    }

    /** Copies bytes into the message, without a size. */
    public fun bytes(value: ByteArray): Unit = writer.raw(value, 0, value.size)

    /**
     * Writes the size of a text and its UTF-8, without a type byte. Throws `not-encodable` for an unpaired surrogate.
     */
    public fun text(value: String): Unit = writer.text(value)

    /** Writes zeros up to a multiple of 1, 2, 4 or 8 bytes. The padding counts from the start of the message. */
    public fun pad(alignment: Int): Unit = writer.pad(checkAlignment(alignment))

    /** Writes any value with its type byte. The value is nested one level deeper than the extension's own value. */
    public fun value(value: Any?): Unit = put(value)
}

/**
 * Reads an extension's body. Do not use the reader after `read` returned, or on another thread. Every method that reads
 * throws `truncated` if the message ends too soon.
 */
public class ValueReader internal constructor(private val reader: Reader, private val take: () -> Any?) {
    /** The offset of the next byte, counted from the start of the message. */
    public val offset: Int
        get() = reader.offset

    /** The number of bytes that remain in the message. */
    public val left: Int
        get() = reader.left

    public fun uint8(): Int = reader.byte()

    public fun int32(): Int = reader.int32()

    public fun int64(): Long = reader.int64()

    /** Skips padding up to a multiple of 8, then reads a float64. */
    public fun float64(): Double = reader.float64()

    /** Reads a size or a count of up to 32 bits. Does not compare the number with the rest of the message. */
    public fun size(): Long = reader.size()

    /** Reads `count` bytes. Returns a view if the codec owns the message, otherwise a copy. */
    public fun bytes(count: Int): ByteBuffer {
        require(count >= 0) { "count must be 0 or more: count=$count" }
        reader.need(count.toLong(), reader.at)
        return if (reader.owned) reader.part(count) else ByteBuffer.wrap(reader.copy(count))
    }

    public fun text(): String = reader.text()

    /** Skips padding up to a multiple of 1, 2, 4 or 8 bytes. The padding counts from the start of the message. */
    public fun pad(alignment: Int): Unit = reader.pad(checkAlignment(alignment), reader.at)

    /** Reads any value with its type byte. The value is nested one level deeper than the extension's own value. */
    public fun value(): Any? = take()
}

private fun checkAlignment(alignment: Int): Int {
    require(alignment == 1 || alignment == 2 || alignment == 4 || alignment == 8) {
        "alignment must be 1, 2, 4 or 8: alignment=$alignment"
    }
    return alignment
}
