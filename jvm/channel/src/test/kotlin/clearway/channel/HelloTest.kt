// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.transport.CloseCode
import clearway.channel.transport.Log
import clearway.channel.transport.MemoryTransport
import clearway.channel.wire.Hello
import clearway.channel.wire.WIRE_VERSION
import clearway.channel.wire.writeHello
import java.io.File
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Tests connects that fail, and the error codes that say why. */
class HelloTest {
    private val clock = FakeClock()
    private val log = Log()
    private val options = EndpointOptions().helloMs(100).clock(clock)

    /** Connects to a peer that sends `frames` and no others. Returns the failure, after `passMs`. */
    private fun failure(vararg frames: ByteArray, passMs: Long = 0): ChannelException {
        val (here, there) = MemoryTransport.pair()
        there.open(log)
        for (frame in frames) there.send(frame)
        val connecting = Endpoint.connect(here, options)
        clock.pass(passMs)
        return Outcome.of(connecting).get(60, TimeUnit.SECONDS).error as ChannelException
    }

    @Test
    fun `a connect fails with deadline when no hello arrives within helloMs`() {
        val failure = failure(passMs = 100)
        assertEquals(ChannelError.DEADLINE to CloseCode.TIMEOUT, failure.error to failure.reason?.code)
        assertEquals(CloseCode.TIMEOUT, log.end().code)
    }

    @Test
    fun `a connect fails with protocol when the ends have no version or wire in common`() {
        for (hello in
            listOf(Hello(WIRE_VERSION + 1, 1, 1L shl 20, 255, 1), Hello(WIRE_VERSION, 2, 1L shl 20, 255, 1))) {
            val failure = failure(writeHello(hello))
            assertEquals(ChannelError.PROTOCOL to CloseCode.PROTOCOL, failure.error to failure.reason?.code)
        }
    }

    @Test
    fun `spec_errors lists every code of a channel`() {
        val page = File("../../spec/errors.md").readText().substringBefore("## Native plugins")
        assertEquals(emptyList<String>(), ChannelError.values().map { it.code }.filter { "\n| `$it` |" !in page })
    }
}
