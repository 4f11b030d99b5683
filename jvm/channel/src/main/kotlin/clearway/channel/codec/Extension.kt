// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.nio.ByteBuffer

/**
 * A type of the application's own on the wire: a type byte from 128 to 255, and whatever body [write] gives it. Both
 * ends must have it. Used by many threads at once.
 *
 * @property tag the type byte; not used twice in one codec
 * @property type the class whose instances are written so: exactly this class, not its subclasses
 */
public abstract class Extension<T : Any> protected constructor(public val tag: Int, public val type: Class<T>) {
    init {
        require(tag in Tag.EXTENSION_MIN..Tag.EXTENSION_MAX) { "tag must be from 128 to 255: tag=$tag" }
    }

    /** Writes the body. Its exceptions reach the caller of `encode`. */
    public abstract fun write(value: T, writer: ValueWriter)

    /**
     * Reads exactly what [write] wrote. What it throws, other than a [CodecException], is the cause of a `malformed`.
     */
    public abstract fun read(reader: ValueReader): T
}

/** A codec's extensions, ready for writing and for reading. */
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

/** Writes an extension's body. Not to be kept after `write`, nor given to another thread. */
public class ValueWriter internal constructor(private val writer: Writer, private val put: (Any?) -> Unit) {
    /** How many bytes the message has so far. */
    public val offset: Int
        get() = writer.offset

    /** The lowest eight bits. */
    public fun uint8(value: Int): Unit = writer.byte(value)

    public fun int32(value: Int): Unit = writer.int32(value)

    public fun int64(value: Long): Unit = writer.int64(value)

    /** Padding to 8 and a float64. */
    public fun float64(value: Double) {
        writer.pad(8)
        writer.int64(value.toRawBits())
    }

    /** A size or a count, in 1, 3 or 5 bytes. Throws IllegalArgumentException where it is negative. */
    public fun size(value: Int) {
        require(value >= 0) { "size must be 0 or more: size=$value" }
        writer.size(value)
    }

    /** Bytes without a size; copies them. */
    public fun bytes(value: ByteArray): Unit = writer.raw(value, 0, value.size)

    /** A text with its size, without a type byte. Throws `not-encodable` for half of a surrogate pair. */
    public fun text(value: String): Unit = writer.text(value)

    /** Zeros up to a multiple of 1, 2, 4 or 8, counted from the message's first byte. */
    public fun pad(alignment: Int): Unit = writer.pad(checkAlignment(alignment))

    /** Any value with its type byte; one level deeper. */
    public fun value(value: Any?): Unit = put(value)
}

/**
 * Reads an extension's body. Not to be kept after `read`, nor given to another thread. Everything throws `truncated`
 * where the message ends too soon.
 */
public class ValueReader internal constructor(private val reader: Reader, private val take: () -> Any?) {
    /** The byte that is read next. */
    public val offset: Int
        get() = reader.offset

    /** Bytes that are left. */
    public val left: Int
        get() = reader.left

    public fun uint8(): Int = reader.byte()

    public fun int32(): Int = reader.int32()

    public fun int64(): Long = reader.int64()

    /** Padding to 8 and a float64. */
    public fun float64(): Double = reader.float64()

    /** A size or a count, of up to 32 bits. It is not checked against what is left. */
    public fun size(): Long = reader.size()

    /** As many bytes: a copy, or a view where the message is owned. */
    public fun bytes(count: Int): ByteBuffer {
        require(count >= 0) { "count must be 0 or more: count=$count" }
        reader.need(count.toLong(), reader.at)
        return if (reader.owned) reader.part(count) else ByteBuffer.wrap(reader.copy(count))
    }

    public fun text(): String = reader.text()

    /** Passes padding up to a multiple of 1, 2, 4 or 8. */
    public fun pad(alignment: Int): Unit = reader.pad(checkAlignment(alignment), reader.at)

    /** Any value with its type byte. */
    public fun value(): Any? = take()
}

private fun checkAlignment(alignment: Int): Int {
    require(alignment == 1 || alignment == 2 || alignment == 4 || alignment == 8) {
        "alignment must be 1, 2, 4 or 8: alignment=$alignment"
    }
    return alignment
}
