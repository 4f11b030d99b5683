// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.math.BigInteger
import java.nio.Buffer
import java.nio.ByteBuffer
import java.nio.ByteOrder
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
        var mixed: KeyHashes? = null
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
            else if (before == 0 && type in ORDERED) only = type
            else if (type !== only) mixed = KeyHashes().also { map.keys.forEach(it::add) }
            if (mixed?.isFlooded == true)
                throw reader.refusal(CodecError.TOO_LARGE, "too many keys have the same hash", from)
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

/**
 * Caches the texts of map keys by their bytes. Many messages contain the same few keys. A cached text needs no new
 * memory and already has its hash. The hash of a text selects its slot in the cache. A new text replaces the old text
 * in its slot, so the cache cannot grow. Only one thread at a time may use a cache.
 */
internal class KeyCache {
    private val texts = arrayOfNulls<String>(PLACES)

    /** Returns the text of ASCII bytes. Returns null if a byte is not ASCII or there are more than [SIZE_MAX] bytes. */
    fun text(bytes: ByteArray, start: Int, size: Int): String? {
        if (size > SIZE_MAX) return null
        // This loop computes the hash that `String.hashCode` returns for the text.
        var hash = 0
        var all = 0
        for (at in start until start + size) {
            val byte = bytes[at].toInt()
            all = all or byte
            hash = hash * 31 + byte
        }
        if (all < 0) return null
        val place = (hash xor (hash ushr 9)) and (PLACES - 1)
        val known = texts[place]
        if (known != null && known.hashCode() == hash && known.length == size && same(known, bytes, start)) return known
        val text = String(bytes, start, size, Charsets.ISO_8859_1)
        texts[place] = text
        return text
    }

    private fun same(text: String, bytes: ByteArray, start: Int): Boolean {
        for (at in text.indices) if (text[at].code != bytes[start + at].toInt()) return false
        return true
    }

    private companion object {
        /**
         * The number of slots: enough for the field names of several dozen classes. Their references take about 2 KiB.
         */
        const val PLACES = 512

        /**
         * Maximum size of a cached text, in bytes. Most field names are shorter. Comparing a longer text costs as much
         * as creating it.
         */
        const val SIZE_MAX = 32
    }
}

/**
 * The types of keys that a HashMap orders in a tree if they share a hash, so that they cost little. A type of an
 * extension may have no order, or one that does not agree with its `equals`.
 */
private val ORDERED =
    setOf<Class<*>?>(
        String::class.java,
        Int::class.javaObjectType,
        Long::class.javaObjectType,
        Double::class.javaObjectType,
        Boolean::class.javaObjectType,
        BigInteger::class.java,
    )

/**
 * Detects a map whose keys were crafted to share a hash. The reader does not use it for maps whose keys all have one of
 * the types in [ORDERED]. Keys of different types have no common order, so a HashMap compares each `Long` with every
 * `Double` of the same hash. A map of 64,000 crafted keys took 7 s to decode.
 */
internal class KeyHashes {
    private val counts = HashMap<Int, Int>()

    /**
     * Whether more than [SAME_MAX] keys share one hash. Chance does not explain that number, so the peer chose the
     * keys.
     */
    var isFlooded = false
        private set

    fun add(key: Any?) {
        if (counts.merge(key.hashCode(), 1, Int::plus)!! > SAME_MAX) isFlooded = true
    }

    private companion object {
        /**
         * Maximum number of keys that may share a hash. Among a million random 32-bit hashes, even four equal ones are
         * very unlikely.
         */
        const val SAME_MAX = 64
    }
}
