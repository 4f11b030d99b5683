// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.memory

import clearway.lab.Registry
import clearway.lab.protocol.Cell
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Test

/**
 * Tests without native code, because none is compiled here. ts/clearway-lab/test/contract.test.ts runs every mechanism
 * of the runner.
 */
internal class FillersTest {
    @Test
    fun `a mechanism without its native code is listed with the missing part, and throws the same message`() {
        val entries = Registry.entries().filter { it.scenario == "memset-jvm" }.associateBy { it.mechanism }
        assertEquals(setOf("c") + Fillers.all.map { it.name }, entries.keys)
        for (name in Fillers.all.map { it.name }) {
            val why = entries.getValue(name).unavailable
            assertNotNull(why, name)
            val thrown = assertThrows(IllegalStateException::class.java) { Fillers.named(name).open(1) }
            assertEquals(why, thrown.message)
        }
    }

    private class InJava(bytes: Int) : Filler {
        private val array = ByteArray(bytes)

        override fun renew() = array.fill(0)

        override fun fill(value: Int) = array.fill(value.toByte())

        override fun holds(value: Int): Boolean = array.all { it == value.toByte() }
    }

    @Test
    fun `small fills of warm memory are timed in batches, fills of fresh memory one by one`() {
        fun fills(bytes: Int, memory: String): clearway.lab.protocol.Measured {
            val numbers = mapOf("bytes" to bytes, "repetitions" to 5, "timeMsMax" to 1000)
            val params = numbers.mapValues { JsonPrimitive(it.value) } + ("memory" to JsonPrimitive(memory))
            return measureFills(Cell("memory", "memset-jvm", "java", params, JsonObject(emptyMap()))) { ::InJava }
        }
        val warm = fills(4096, "warm").samples.getValue("fill")
        assertEquals(listOf(5, 64), listOf(warm.ns.size, warm.batch))
        assertEquals(1, fills(4096, "fresh").samples.getValue("fill").batch)
        assertEquals(JsonObject(mapOf("filled" to JsonPrimitive(true))), fills(1 shl 20, "warm").result)
    }
}
