// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.foreign

import clearway.channel.Endpoint
import clearway.channel.EndpointOptions
import clearway.channel.Outcome
import clearway.channel.transport.ChannelSink
import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseReason
import clearway.channel.transport.MemoryTransport
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.TestFactory

/** Tests of an application's own transport that throws. */
class TransportTest {
    private class Throwing(private val to: ChannelTransport) : ChannelTransport by to {
        @Volatile var onSend: () -> Unit = {}
        @Volatile var onClose: () -> Unit = {}
        @Volatile var sink: ChannelSink? = null

        override fun open(sink: ChannelSink) {
            this.sink = sink
            to.open(sink)
        }

        override fun send(frame: ByteArray): Boolean {
            onSend()
            return to.send(frame)
        }

        override fun close(reason: CloseReason) {
            onClose()
            to.close(reason)
        }
    }

    private fun <T> each(act: (throwing: () -> Nothing) -> T): List<DynamicTest> =
        THROWING.map { (what, throwing) -> dynamicTest("it throws $what") { act(throwing) } }

    private fun connect(): Pair<Throwing, Endpoint> {
        val (here, there) = MemoryTransport.pair()
        val transport = Throwing(here)
        val connecting = Endpoint.connect(transport, EndpointOptions().onError { _, _ -> })
        Endpoint.connect(there).get(Scene.LIMIT, TimeUnit.SECONDS)
        return Pair(transport, connecting.get(Scene.LIMIT, TimeUnit.SECONDS))
    }

    @TestFactory
    fun `an endpoint whose transport throws when it sends is closed, and settles everything`() = each { throwing ->
        val (transport, endpoint) = connect()
        val before = endpoint.methods("nobody").call<Any?>("it")
        transport.onSend = throwing
        val stream = endpoint.events("nobody").listen<Any?>()
        val under =
            listOf(before, endpoint.methods("nobody").call<Any?>("it"), endpoint.messages("m").post(1), stream.read())
        endpoint.closed.get(Scene.LIMIT, TimeUnit.SECONDS)
        for (future in under) Outcome.of(future).get(Scene.LIMIT, TimeUnit.SECONDS)
        assertEquals(0, endpoint.stats().run { calls + handling + listening + serving })
    }

    @TestFactory
    fun `an endpoint whose transport throws when it closes ends all the same`() = each { throwing ->
        val (transport, endpoint) = connect()
        val call = endpoint.methods("nobody").call<Any?>("it")
        transport.onClose = throwing
        endpoint.terminate()
        endpoint.closed.get(Scene.LIMIT, TimeUnit.SECONDS)
        Outcome.of(call).get(Scene.LIMIT, TimeUnit.SECONDS)
    }
}
