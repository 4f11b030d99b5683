// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel

import clearway.lab.Registry
import clearway.lab.protocol.Cell
import clearway.lab.protocol.Measured
import java.util.function.UnaryOperator
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Tests without native code, because none is compiled here. ts/clearway-lab/test/contract.test.ts runs every mechanism
 * of the runner.
 */
internal class CallersTest {
    private fun row(channel: String, codec: String, payload: String, direction: String = "host to native"): Cell {
        val words = mapOf("direction" to direction, "channel" to channel, "codec" to codec, "payload" to payload)
        val params = words.mapValues { JsonPrimitive(it.value) } + ("messages" to JsonPrimitive(5))
        return Cell("channel", "channel-native-jvm", "test", params, JsonObject(emptyMap()))
    }

    /** A peer that is written in Java. */
    private class Mirror : Crossing {
        private var own = ByteArray(0)
        override val copiesEncoded: Int = 2
        override val copiesPlaced: Int = 1

        override fun encoded(message: ByteArray): ByteArray = message.copyOf()

        override fun place(bytes: ByteArray) {
            own = bytes
        }

        override fun placed(): Any = own.copyOf()

        override val copiesNativeToHost: Int = 3

        override fun callHost(message: ByteArray, answer: UnaryOperator<ByteArray>): ByteArray =
            answer.apply(message.copyOf())
    }

    private fun measured(cell: Cell, crossing: Crossing = Mirror()): Measured =
        measureCalls(cell) { CrossingCaller(it, crossing) }

    private val equal = JsonObject(mapOf("equal" to JsonPrimitive(true)))

    @Test
    fun `a queued row is timed one at a time and three in flight, other rows in batches`() {
        val queued = measured(row("message", "standard", "2 KB", "host to native, background"))
        assertEquals(equal, queued.result)
        assertEquals(setOf("roundTrip", "roundTripOfThree"), queued.samples.keys)
        assertTrue(queued.samples.values.all { it.ns.size == 5 && it.batch == 1 && it.ns.all { ns -> ns > 0 } })
        val direct = measured(row("method", "json", "null"))
        assertEquals(equal, direct.result)
        assertEquals(setOf("roundTrip"), direct.samples.keys)
    }

    @Test
    fun `copied bytes are counted once for each copy`() {
        val bytes = measured(row("message", "binary", "4 KB")).values.getValue("copiedBytes")
        assertEquals(4096.0, bytes.value)
        assertEquals(0.0, measured(row("message", "standard", "null")).values.getValue("copiedBytes").value)
    }

    @Test
    fun `native code that calls the host gets the value decoded and encoded again`() {
        val nativeToHost = measured(row("message", "standard", "2 KB", "native to host"))
        assertEquals(equal, nativeToHost.result)
        assertEquals(setOf("roundTrip"), nativeToHost.samples.keys)
        val there = measured(row("message", "standard", "2 KB")).values.getValue("copiedBytes").value
        // From native to host, there are two encodings and three copies. From host to native, there are one encoding
        // and two copies.
        assertEquals(there / 3 * 5, nativeToHost.values.getValue("copiedBytes").value)
    }

    @Test
    fun `the result is not equal when the answer differs from the payload`() {
        val wrong =
            object : Crossing by Mirror() {
                override fun placed(): Any = ByteArray(4096)
            }
        val result = measured(row("message", "binary", "4 KB"), wrong).result
        assertEquals(JsonObject(mapOf("equal" to JsonPrimitive(false))), result)
    }

    @Test
    fun `a mechanism without its native code is listed with the missing part, and throws the same message`() {
        val entries = Registry.entries().filter { it.scenario == "channel-native-jvm" }.associateBy { it.mechanism }
        assertEquals(setOf("jni-array", "jni-direct", "ffm", "clearway"), entries.keys)
        for (mechanism in Callers.native) {
            val why = entries.getValue(mechanism.name).unavailable
            assertNotNull(why, mechanism.name)
            val open = { mechanism.open(Row.of(row("message", "standard", "2 KB"))) }
            assertEquals(why, assertThrows(IllegalStateException::class.java) { open() }.message)
        }
    }

    @Test
    fun `an unknown row is refused with its name`() {
        val thrown = assertThrows(IllegalArgumentException::class.java) { Row.of(row("message", "xml", "2 KB")) }
        assertEquals("no such codec: codec=xml", thrown.message)
    }
}
