// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.websocket

import clearway.channel.EndpointContract
import clearway.channel.FrameLimitContract
import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason
import clearway.channel.transport.Connected
import clearway.channel.transport.TransportContract
import clearway.channel.transport.TransportLimits

class WebSocketTransportTest : TransportContract() {
    override fun connect(limits: TransportLimits): Connected {
        val (a, b) = Pairs.connect()
        return Connected(a, b) { (b as SocketTransport).abort(CloseReason(CloseCode.LOST, "gone")) }
    }
}

class WebSocketServerEndTest : TransportContract() {
    override fun connect(limits: TransportLimits): Connected {
        val (a, b) = Pairs.connect()
        return Connected(b, a) { (a as SocketTransport).abort(CloseReason(CloseCode.LOST, "gone")) }
    }
}

class WebSocketEndpointTest : EndpointContract() {
    override fun transports(): Pair<ChannelTransport, ChannelTransport> = Pairs.connect()
}

class WebSocketFrameLimitTest : FrameLimitContract() {
    override fun transports(): Pair<ChannelTransport, ChannelTransport> = Pairs.connect()
}
