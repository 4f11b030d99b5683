// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import clearway.channel.codec.json.JsonWriter
import java.math.BigInteger
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

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
