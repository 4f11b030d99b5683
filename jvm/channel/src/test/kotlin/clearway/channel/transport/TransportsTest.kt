// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

import java.net.InetAddress
import java.net.ServerSocket
import java.net.Socket

class MemoryTransportTest : TransportContract() {
    override fun connect(limits: TransportLimits): Connected {
        val (a, b) = MemoryTransport.pair(limits)
        return Connected(a, b)
    }
}

class StreamTransportTest : TransportContract() {
    override fun connect(limits: TransportLimits): Connected {
        val (a, b) = sockets()
        return Connected(transport(a, limits), transport(b, limits)) { b.close() }
    }

    private fun transport(socket: Socket, limits: TransportLimits) =
        StreamTransport.of(socket.getInputStream(), HalfClosing(socket), limits)

    private fun sockets(): Pair<Socket, Socket> =
        ServerSocket(0, 1, InetAddress.getLoopbackAddress()).use { server ->
            val a = Socket(server.inetAddress, server.localPort)
            Pair(a, server.accept())
        }

    /** The output of a socket. Its `close` ends only the output and leaves the socket open, as with a pipe. */
    private class HalfClosing(private val socket: Socket) : java.io.FilterOutputStream(socket.getOutputStream()) {
        override fun write(bytes: ByteArray, from: Int, count: Int) = out.write(bytes, from, count)

        override fun close() = socket.shutdownOutput()
    }
}
