// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.endpoint.Core
import clearway.channel.endpoint.Listener
import clearway.channel.transport.CloseCode
import clearway.channel.transport.MemoryTransport
import clearway.channel.wire.Head
import clearway.channel.wire.Op
import clearway.channel.wire.Wires
import clearway.channel.wire.writeFrame
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Checks that an endpoint keeps no futures without a reader. */
class ForgottenFuturesTest {
    @Test
    fun `reading closed keeps nothing, and no reader can end the endpoint or the wait of others`() {
        val core = Core(MemoryTransport.pair().first, EndpointOptions(), Wires.CLEARWAY, null)
        val endpoint = Endpoint(core)
        val other = endpoint.closed
        repeat(100_000) { assertFalse(endpoint.closed.isDone) }
        endpoint.closed.cancel(true)
        assertFalse(other.isDone)
        endpoint.closed.completeExceptionally(TimeoutException())
        assertFalse(endpoint.closed.isDone)
        val last = endpoint.closed
        assertTrue(core.closed.numberOfDependents <= 2)
        endpoint.terminate()
        for (each in listOf(last, endpoint.closed)) assertEquals(CloseCode.CLOSED, each.get(60, TimeUnit.SECONDS).code)
    }

    @Test
    fun `reads that were cancelled behind one that waits are not kept`() =
        Bare().use { bare ->
            val stream = bare.end.events("m").listen<Any?>()
            val open = stream.read()
            repeat(100_000) { stream.read().cancel(true) }
            val asking = Listener::class.java.getDeclaredField("asking").apply { isAccessible = true }
            assertTrue((asking.get(stream) as Collection<*>).size <= 2)
            bare.there.send(writeFrame(Head(Op.EVENT, id = 1), body = byteArrayOf(0, 0)))
            assertFalse(open.get(60, TimeUnit.SECONDS).isEnd)
        }
}
