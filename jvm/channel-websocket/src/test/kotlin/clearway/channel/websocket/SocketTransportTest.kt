// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.transport.Log
import clearway.channel.transport.TransportLimits
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class SocketTransportTest {
    private val limits = TransportLimits(1000)
    private val log = ArrayList<String>()
    private val socket =
        object : Socket {
            override val isOurs = true

            override fun binary(message: ByteArray, sent: () -> Unit) {
                log += "binary ${message.size}"
                sent()
            }

            override fun text(message: String, sent: () -> Unit) {
                log += message
                sent()
            }

            override fun close(status: Int, text: String, sent: () -> Unit) {
                log += "close $status"
                sent()
            }

            override fun demand() {}

            override fun abort() {}
        }

    @Test
    fun `sends at once what was given before it was open`() {
        val transport = SocketTransport(limits)
        transport.open(Log())
        transport.send(ByteArray(3))
        transport.opened(socket)
        assertEquals(listOf("binary 3"), log)
    }
}
