// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import clearway.channel.codec.json.JsonWriter
import java.math.BigInteger
import java.nio.ByteBuffer
import java.nio.DoubleBuffer
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class StandardCodecTest {
    private val codec = Codecs.STANDARD

    private fun refused(message: ByteArray, with: StandardMessageCodec = codec): CodecException =
        assertThrows(CodecException::class.java) { with.decode(message) }

    private fun bytes(vararg values: Int) = ByteArray(values.size) { values[it].toByte() }

    @Test
    fun `integers come back in the narrowest type, whichever they were written from`() {
        val given = listOf(7L, 7.toShort(), BigInteger.valueOf(7), 1L shl 40, BigInteger.ONE.shiftLeft(70).negate())
        val read = codec.decode(codec.encode(given))
        assertEquals(listOf(7, 7, 7, 1L shl 40, BigInteger.ONE.shiftLeft(70).negate()), read)
    }

    @Test
    fun `a whole Double stays a float`() {
        assertEquals(listOf(1.0, 2.5, -0.0), codec.decode(codec.encode(listOf(1.0, 2.5f, -0.0))))
    }

    @Test
    fun `a message of null has no bytes, unless told otherwise`() {
        assertEquals(0, codec.encode(null).size)
        assertNull(codec.decode(ByteArray(0)))
        val told = codec.withEmptyNull(false)
        assertArrayEquals(bytes(0), told.encode(null))
        assertEquals(CodecError.TRUNCATED, refused(ByteArray(0), told).error)
    }

    @Test
    fun `lists of numbers are copies, and views of a message that is given away`() {
        val message = codec.encode(listOf(byteArrayOf(1, 2), doubleArrayOf(0.5, 1.5)))
        val copies = codec.decode(message) as List<*>
        val views = codec.decodeOwned(ByteBuffer.wrap(message)) as List<*>
        assertArrayEquals(byteArrayOf(1, 2), copies[0] as ByteArray)
        assertEquals(DoubleBuffer.wrap(doubleArrayOf(0.5, 1.5)), views[1])
        assertSame(message, assertInstanceOf(ByteBuffer::class.java, views[0]).array())
        // Views are encoded as the lists of numbers that they view.
        assertArrayEquals(message, codec.encode(views))
    }

    @Test
    fun `a message in a direct buffer is read, and its position stays`() {
        val message = codec.encode(mapOf("a" to intArrayOf(1, 2, 3)))
        val direct = ByteBuffer.allocateDirect(message.size + 3)
        direct.position(3)
        assertTrue(codec.encodeInto(mapOf("a" to intArrayOf(1, 2, 3)), direct.duplicate()))
        assertEquals("{a=java.nio", codec.decodeOwned(direct).toString().take(11))
        assertEquals(3, direct.position())
    }

    @Test
    fun `encodeInto writes nothing where a message does not fit`() {
        val small = ByteBuffer.allocate(4)
        assertFalse(codec.encodeInto("a text", small))
        assertEquals(0, small.position())
        assertArrayEquals(ByteArray(4), small.array())
    }

    @Test
    fun `what has no form is refused, and the next message is whole`() {
        for (value in listOf(setOf(1), 'c', "half \ud800", listOf(mapOf("key" to Any())))) assertEquals(
            CodecError.NOT_ENCODABLE,
            assertThrows(CodecException::class.java) { codec.encode(value) }.error,
        )
        assertEquals("Zoë \uD83D\uDE02 \u4e2d", codec.decode(codec.encode("Zoë \uD83D\uDE02 \u4e2d")))
    }

    @Test
    fun `a list in itself is refused and not followed for ever`() {
        val circle = ArrayList<Any?>()
        circle.add(circle)
        assertEquals(CodecError.TOO_DEEP, assertThrows(CodecException::class.java) { codec.encode(circle) }.error)
    }

    @Test
    fun `a count that no message could hold is refused before anything is allocated`() {
        // The first message announces a list of 4 billion values, the second a float64 list of 4 billion elements. The
        // third has 11 values where the limit is 10.
        assertEquals(CodecError.TRUNCATED, refused(bytes(12, 255, 255, 255, 255, 255)).error)
        assertEquals(CodecError.TRUNCATED, refused(bytes(11, 255, 255, 255, 255, 255)).error)
        val few = codec.with(CodecLimits(itemsMax = 10))
        assertEquals(CodecError.TOO_LARGE, refused(codec.encode(List(11) { null }), few).error)
    }

    @Test
    fun `integers of one value are one key, whichever type they had`() {
        val twice = bytes(13, 2, 3, 1, 0, 0, 0, 7, 1, 'a'.code, 4, 1, 0, 0, 0, 0, 0, 0, 0, 7, 1, 'b'.code)
        assertEquals(mapOf(1 to "b"), codec.decode(twice))
    }

    @Test
    fun `lists as keys are only themselves, so that keys of one hash are not dear`() {
        val key = bytes(12, 1, 0)
        val message = bytes(13, 2) + key + bytes(1) + key + bytes(2)
        assertEquals(2, (codec.decode(message) as Map<*, *>).size)
    }

    @Test
    fun `a map refuses keys of several types that were chosen for their one hash`() {
        // These keys are Longs and Doubles with one common hash. They have no common order, so a HashMap compares them
        // all.
        val keys = ArrayList<Any>()
        for (high in 1L..32_000L) {
            keys += (high shl 32) or (high xor 0x7654_3210L)
            keys += Double.fromBits((high + 0x10_0000L shl 32) or ((high + 0x10_0000L) xor 0x7654_3210L))
        }
        assertEquals(setOf(0x7654_3210), keys.map { it.hashCode() }.toSet())
        assertEquals(CodecError.TOO_LARGE, refused(codec.encode(keys.associateWith { 1 })).error)
    }

    /** A key without an order. Many have the same hash. */
    private data class Point(val x: Int, val y: Int)

    private object Points : Extension<Point>(200, Point::class.java) {
        override fun write(value: Point, writer: ValueWriter) {
            writer.int32(value.x)
            writer.int32(value.y)
        }

        override fun read(reader: ValueReader) = Point(reader.int32(), reader.int32())
    }

    @Test
    fun `a map refuses keys of an extension that were chosen for their one hash`() {
        val withPoints = codec.with(Points)
        fun crossing(keys: List<Point>) = withPoints.encode(keys.associateWith { 1 })
        val others = crossing(List(10_000) { Point(it, it) })
        assertEquals(10_000, (withPoints.decode(others) as Map<*, *>).size)
        val message = crossing(List(10_000) { Point(it, -31 * it) })
        val refused = assertThrows(CodecException::class.java) { withPoints.decode(message) }
        assertEquals(CodecError.TOO_LARGE, refused.error)
    }

    @Test
    fun `a map takes keys of one type and one hash, and keys of several types with hashes of their own`() {
        val longs = (1L..10_000L).associateBy { (it shl 32) or (it xor 0x7654_3210L) }
        assertEquals(10_000, (codec.decode(codec.encode(longs)) as Map<*, *>).size)
        val mixed = (0 until 10_000).associateBy { if (it % 3 == 0) it else if (it % 3 == 1) it + 0.5 else "key $it" }
        assertEquals(10_000, (codec.decode(codec.encode(mixed)) as Map<*, *>).size)
    }

    @Test
    fun `lists of numbers as keys are only themselves when they could be views of the message`() {
        val key = bytes(8, 1, 9)
        val message = bytes(13, 2) + key + bytes(1) + key + bytes(2)
        val read = codec.decodeOwned(ByteBuffer.wrap(message)) as Map<*, *>
        assertEquals(2, read.size)
        assertInstanceOf(ByteArray::class.java, read.keys.first())
    }

    @Test
    fun `a list beside a message is copied once, however often the message names it`() {
        val beside = ByteBuffer.allocate(1 shl 20)
        val names = 30_000 // Copies would take 30 GB.
        val attached = bytes(Tag.ATTACHED, Tag.BYTES, 0)
        var message = bytes(12, 254, names and 0xff, names shr 8)
        message += ByteArray(names * attached.size) { attached[it % attached.size] }
        val read = codec.decode(ByteBuffer.wrap(message), false, listOf(beside), Int.MAX_VALUE) as List<*>
        assertEquals(names, read.size)
        assertSame(read.first(), read.last())
        assertThrows(OverLimit::class.java) {
            codec.inlined(ByteBuffer.wrap(message), listOf(beside), Int.MAX_VALUE, 64 shl 20)
        }
    }

    @Test
    fun `a big integer of a million digits is read in no time to speak of, and one more is refused`() {
        val digits = 1 shl 20
        val value = BigInteger.ONE.shiftLeft(4 * digits).subtract(BigInteger.ONE)
        assertEquals(value, codec.decode(codec.encode(value)))
        val refused = assertThrows(CodecException::class.java) { codec.encode(value.shiftLeft(1)) }
        assertEquals(CodecError.TOO_LARGE, refused.error)
    }

    @Test
    fun `threads that encode at once do not disturb each other`() {
        val threads =
            List(4) { seed ->
                java.util.concurrent.CompletableFuture.supplyAsync {
                    (0 until 500).all { codec.decode(codec.encode(listOf(seed, "key$it"))) == listOf(seed, "key$it") }
                }
            }
        assertTrue(threads.all { it.join() })
    }
}

/** Checks that a message is written only up to its limit. */
class LimitedTest {
    private val values =
        listOf(
            "text",
            "\"\u0001\n\\é€😀".repeat(1000),
            "é".repeat(3000),
            1,
            1L shl 40,
            0.5,
            true,
            BigInteger.ONE.shiftLeft(5000),
            listOf(0.5, "a", 0.25, null),
            mapOf("a" to 1, "b" to listOf(2.5)),
            ByteArray(5000),
            IntArray(2000) { it },
            DoubleArray(30) { it / 2.0 },
        )

    private fun check(encode: (Int) -> ByteArray) {
        val message = encode(Int.MAX_VALUE)
        assertArrayEquals(message, encode(message.size))
        for (less in listOf(1, 2, message.size / 2)) {
            if (less in 1 until message.size) assertThrows(OverLimit::class.java) { encode(message.size - less) }
        }
    }

    @Test
    fun `every codec writes a message of exactly its limit, and none that is longer`() {
        for (value in values) {
            check { Codecs.STANDARD.encode(value, it) }
            check { Codecs.JSON.encode(value, it) }
            for (codec in listOf(Codecs.STANDARD_METHODS, Codecs.JSON_METHODS)) {
                check { codec.encodeCall(MethodCall("m", value), it) }
                check { codec.encodeReply(MethodReply.Success(value), it) }
                check { codec.encodeReply(MethodReply.Failure("code", "message", value, "stack"), it) }
            }
        }
        check { Codecs.STRING.encode("aé€", it) }
        check { Codecs.BINARY.encode(ByteArray(100), it) }
        check { Own.encode(ByteArray(100), it) }
    }

    @Test
    fun `a list that a value names ten thousand times takes no more memory than the limit`() {
        val limit = 1_000_000
        val named = ByteArray(16_000)
        val value = List(10_000) { named }
        for (json in listOf(false, true)) {
            val writer = Writer()
            writer.begin(limit.toLong())
            assertThrows(OverLimit::class.java) {
                if (json) JsonWriter(writer, 10).value(value, 0) else Codecs.STANDARD.sink(writer).value(value, 0)
            }
            assertTrue(writer.bytes.size <= limit + Writer.RESERVE, "${writer.bytes.size} bytes")
        }
    }

    @Test
    fun `a message over its limit does not change the limit of the next message`() {
        val codec = Codecs.STANDARD.withEmptyNull(false)
        assertThrows(OverLimit::class.java) { codec.encode("a".repeat(5000), 100) }
        assertTrue(codec.encode("a".repeat(5000)).size > 5000)
    }

    /** An application's own codec. */
    private object Own : MessageCodec<ByteArray> {
        override val name: String
            get() = "own"

        override fun encode(value: ByteArray?): ByteArray = value!!

        override fun decode(message: ByteArray): ByteArray = message

        override fun decodeOwned(message: java.nio.ByteBuffer): ByteArray = throw UnsupportedOperationException()
    }
}
