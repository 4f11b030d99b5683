// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.transport.MemoryTransport
import clearway.channel.transport.TransportLimits
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

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
