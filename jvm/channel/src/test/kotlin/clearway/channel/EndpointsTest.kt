// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.MemoryTransport
import clearway.channel.transport.StreamTransport
import java.net.InetAddress
import java.net.ServerSocket
import java.net.Socket

class MemoryEndpointTest : EndpointContract() {
    override fun transports(): Pair<ChannelTransport, ChannelTransport> = MemoryTransport.pair()
}

class StreamEndpointTest : EndpointContract() {
    override fun transports(): Pair<ChannelTransport, ChannelTransport> = streams()
}

class MemoryFrameLimitTest : FrameLimitContract() {
    override fun transports(): Pair<ChannelTransport, ChannelTransport> = MemoryTransport.pair()
}

class StreamFrameLimitTest : FrameLimitContract() {
    override fun transports(): Pair<ChannelTransport, ChannelTransport> = streams()
}

private fun streams(): Pair<ChannelTransport, ChannelTransport> =
    ServerSocket(0, 1, InetAddress.getLoopbackAddress()).use { server ->
        val a = Socket(server.inetAddress, server.localPort)
        val b = server.accept()
        Pair(
            StreamTransport.of(a.getInputStream(), a.getOutputStream()),
            StreamTransport.of(b.getInputStream(), b.getOutputStream()),
        )
    }
