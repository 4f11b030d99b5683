// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.codec.Codecs
import clearway.channel.transport.MemoryTransport
import clearway.channel.transport.TransportLimits
import java.math.BigInteger
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ExecutionException
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class ExpectedTypeTest {
    private val unsigned64 = BigInteger("18446744073709551615")

    /** Serves a method and events that both return what they are given. */
    private fun echoes(act: (Methods, Events) -> Unit) {
        val (a, b) = MemoryTransport.pair()
        val first = Endpoint.connect(a)
        Endpoint.connect(b).get().use { there ->
            first.get().use { here ->
                there.methods("echo").handle(MethodTable().on("get") { args, _ -> args })
                there.events("echoes").serveEach({ args -> args as List<*> })
                act(here.methods("echo"), here.events("echoes"))
            }
        }
    }

    private fun refused(call: CompletableFuture<*>): UnexpectedValueException =
        assertThrows(ExecutionException::class.java) { call.get() }.cause as UnexpectedValueException

    @Test
    fun `a call fails when its result does not fit the number type that was asked for`() = echoes { echo, _ ->
        val size = refused(echo.call<Int>("get", 5_000_000_000L))
        assertEquals("echo.get: result must be Int: result=5000000000", size.message)
        assertEquals(
            listOf("echo", "get", "result", "Int", 5_000_000_000L, ChannelError.PROTOCOL),
            listOf(size.channel, size.method, size.path, size.expected, size.value, size.error),
        )
        assertEquals(2.9, refused(echo.call<Int>("get", 2.9)).value)
        assertEquals(Double.NaN, refused(echo.call<Long>("get", Double.NaN)).value)
        assertEquals(unsigned64, refused(echo.call<Long>("get", unsigned64)).value)
        assertEquals(128, refused(echo.call<Byte>("get", 128)).value)
        assertEquals(-32_769, refused(echo.call<Short>("get", -32_769)).value)
        val odd = (1L shl 53) + 1
        assertEquals(odd, refused(echo.call<Double>("get", odd)).value)
        assertEquals(1e300, refused(echo.call<Float>("get", 1e300)).value)
        assertEquals(1e-300, refused(echo.call<Float>("get", 1e-300)).value)
        assertEquals(16_777_217, refused(echo.call<Float>("get", 16_777_217)).value)
        assertEquals(16_777_217.0, refused(echo.call<Float>("get", 16_777_217.0)).value)
        // The other end may have meant 2^53 + 1.
        val rounded = odd.toDouble()
        assertEquals(rounded, refused(echo.call<Long>("get", rounded)).value)
        assertEquals(1e300, refused(echo.call<BigInteger>("get", 1e300)).value)
    }

    @Test
    fun `a call fails when JSON has rounded the integer that was asked for`() {
        val (a, b) = MemoryTransport.pair()
        val first = Endpoint.connect(a)
        Endpoint.connect(b).get().use { there ->
            first.get().use { here ->
                there.methods("json", Codecs.JSON_METHODS).handle(MethodTable().on("get") { args, _ -> args })
                val json = here.methods("json", Codecs.JSON_METHODS)
                assertEquals((1L shl 53) - 1, json.call<Long>("get", (1L shl 53) - 1).get())
                refused(json.call<Long>("get", (1L shl 53) + 1))
            }
        }
    }

    @Test
    fun `a call converts a number when that loses nothing`() = echoes { echo, _ ->
        assertEquals(7L, echo.call<Long>("get", 7).get())
        assertEquals(7.0, echo.call<Double>("get", 7).get())
        assertEquals(3, echo.call<Int>("get", 3.0).get())
        assertEquals(-128, echo.call<Byte>("get", -128).get())
        assertEquals(BigInteger.TEN, echo.call<BigInteger>("get", 10).get())
        assertEquals(0.1f, echo.call<Float>("get", 0.1).get())
        assertEquals(Float.POSITIVE_INFINITY, echo.call<Float>("get", Double.POSITIVE_INFINITY).get())
        assertEquals(5_000_000_000L, echo.call<Number>("get", 5_000_000_000L).get())
    }

    @Test
    fun `a call fails when its result has another type`() = echoes { echo, _ ->
        assertEquals(5, refused(echo.call<String>("get", 5)).value)
        assertEquals("5", refused(echo.call<Int>("get", "5")).value)
        assertEquals("echo.get: result must be Int: result=null", refused(echo.call<Int>("get")).message)
        assertNull(echo.call<Int?>("get").get())
        assertNull(echo.call<Any?>("get").get())
        assertEquals(Unit, echo.call<Unit>("get").get())
        val long = "x".repeat(1_000_000)
        assertTrue(checkNotNull(refused(echo.call<Int>("get", long)).message).length < 200)
    }

    @Test
    fun `a call checks the elements of lists and maps`() = echoes { echo, _ ->
        assertEquals(listOf(1L, 2L), echo.call<List<Long>>("get", listOf(1, 2)).get())
        assertEquals(mapOf("a" to 1.0), echo.call<Map<String, Double>>("get", mapOf("a" to 1)).get())
        val nested = refused(echo.call<Map<String, List<Int>>>("get", mapOf("sizes" to listOf(1, 5_000_000_000L))))
        assertEquals("result[\"sizes\"][1]", nested.path)
        assertEquals("Int", nested.expected)
        assertEquals("result.keys", refused(echo.call<Map<String, Int>>("get", mapOf(1 to 1))).path)
        // Two keys that are one after their conversion would lose an entry.
        assertEquals("result", refused(echo.call<Map<Int, String>>("get", mapOf(1 to "a", 1.0 to "b"))).path)
        assertEquals(listOf(1, null, "a"), echo.call<List<*>>("get", listOf(1, null, "a")).get())
    }

    @Test
    fun `a stream ends at an event of another type, after the events before it`() = echoes { _, echoes ->
        echoes.listen<Int>(listOf(1, 2, 5_000_000_000L, 4)).use { stream ->
            assertEquals(1, stream.read().get().value)
            assertEquals(2, stream.read().get().value)
            val wrong = refused(stream.read())
            assertEquals("echoes: event must be Int: event=5000000000", wrong.message)
            assertTrue(stream.read().get().isEnd)
        }
        echoes.listen<Long>(listOf(1, 2)).use { assertEquals(listOf(1L, 2L), it.toList()) }
    }
}

/** Tests of channel names that are longer than one end accepts. */
class NamesTest {
    private val long = "n".repeat(100)

    private fun failure(future: CompletableFuture<*>): Throwable? = Outcome.of(future).get(60, TimeUnit.SECONDS).error

    @Test
    fun `a name too long for the other end fails calls, and no handler`() {
        for (wire in listOf(Wire.CLEARWAY, Wire.PLAIN)) {
            val (a, b) = MemoryTransport.pair()
            val connecting =
                listOf(
                    Endpoint.connect(a, EndpointOptions().wire(wire)),
                    Endpoint.connect(b, EndpointOptions().wire(wire).nameBytesMax(50)),
                )
            val (ours, theirs) = connecting.map { it.get(60, TimeUnit.SECONDS) }
            ours.methods(long).handle(MethodTable())
            ours.messages("$long/messages").handle({ _, _ -> Reply.empty() })
            ours.events("$long/events").serve({ _, _ -> })
            assertTrue(failure(ours.methods(long).call<Any>("it")) is IllegalArgumentException)
            assertTrue(failure(ours.messages(long).post("it")) is IllegalArgumentException)
            assertTrue(failure(ours.events(long).listen<Any>().read()) is IllegalArgumentException)
            assertEquals(0, ours.stats().run { calls + listening })
            // The endpoints still work.
            theirs.methods("short").handle(MethodTable().on("it") { _, _ -> 7 })
            assertEquals(7, ours.methods("short").call<Any>("it").get(60, TimeUnit.SECONDS))
            for (end in listOf(ours, theirs)) end.terminate()
        }
    }

    @Test
    fun `a name too long for this end is refused by the channel's constructors`() {
        val (a, b) = MemoryTransport.pair()
        val connecting = listOf(a, b).map { Endpoint.connect(it, EndpointOptions().nameBytesMax(50)) }
        val (end, other) = connecting.map { it.get(60, TimeUnit.SECONDS) }
        for (make in listOf({ end.methods(long) }, { end.messages(long) }, { end.events(long) })) assertThrows(
            IllegalArgumentException::class.java
        ) {
            make()
        }
        end.terminate()
        other.terminate()
    }

    @Test
    fun `a transport whose frames are too small for an error is refused`() {
        val (a, b) = MemoryTransport.pair(TransportLimits(1023))
        assertThrows(IllegalArgumentException::class.java) { Endpoint.connect(a) }
        b.close(clearway.channel.transport.CloseReason.CLOSED)
    }
}
